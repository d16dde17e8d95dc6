import { expect, test } from 'vitest';
import { compilePattern } from '../../src/content/path-values/path-patterns.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';

/** Returns what a pattern reads from a path. */
function read(pattern: string, path: string): string | null {
  const compiled = compilePattern(pattern);
  if ('fault' in compiled) throw new Error(saySentence('en', compiled.fault));
  const at = path.lastIndexOf('/');
  return compiled(path.slice(0, Math.max(0, at)), path.slice(at + 1));
}

// ADMIN-31
test.each([
  ['{value}/', 'Regatta/day 1/a.jpg', 'Regatta'],
  ['{value}/', 'a.jpg', null],
  ['*/{value}/', 'Clients/Acme/x/a.jpg', 'Acme'],
  ['**/{value}/', 'Clients/Acme/x/a.jpg', 'x'],
  ['Clients/{value}/**/', 'Clients/Acme/x/a.jpg', 'Acme'],
  ['**/{yyyy}-{mm}-{dd}*/', 'Work/2026-05-06 Regatta/a.jpg', '2026-05-06'],
  ['**/{yyyy}-{mm}-{dd} {value}/', 'Work/2026-05-06 Regatta am See/a.jpg', 'Regatta am See'],
  ['{yyyy}/{mm}/', '2026/05/06/a.jpg', '2026-05'],
  ['{yyyy}/', '2026/05/06/a.jpg', '2026'],
  ['{yyyy}-{mm}-{dd}*/', '2026-13-06 Regatta/a.jpg', null],
  ['IMG_{yyyy}{mm}{dd}_{hh}{mi}{ss}.*', 'x/IMG_20260506_070809.jpg', '2026-05-06T07:08:09'],
  ['{value}_*.tif', 'x/A12_front.tif', 'A12'],
  ['{value}.(1)?.tif', 'x/A12.(1)x.tif', 'A12'],
  ['*/{value}.jpg', 'x/a.jpg', 'a'],
  ['*/{value}.jpg', 'x/y/a.jpg', null],
])('the pattern %s reads from %s the value %s', (pattern, path, value) => {
  expect(read(pattern, path)).toBe(value);
});

// ADMIN-31
test.each([
  ['*/', 'it has no placeholder, such as {value} or {yyyy}'],
  ['{value}/{value}/', 'a placeholder occurs twice'],
  ['{folder}/', '{folder} is none of {value}, {yyyy}, {mm}, {dd}, {hh}, {mi}, {ss}'],
])('the pattern %s is refused: %s', (pattern, fault) => {
  const compiled = compilePattern(pattern);
  expect('fault' in compiled && saySentence('en', compiled.fault)).toBe(fault);
});
