import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The files and folders that a document names in backquotes, without patterns such as `<noun>`. */
function pathsIn(text: string): string[] {
  const named = [...text.matchAll(/`((?:contract|server|web|bench|docs)\/[\w./-]+)`/g)].flatMap(
    ([, path]) => path ?? [],
  );
  return [...new Set(named)];
}

test('docs/architecture.md names only files and folders that exist', () => {
  const paths = pathsIn(readFileSync(join(root, 'docs/architecture.md'), 'utf8'));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
