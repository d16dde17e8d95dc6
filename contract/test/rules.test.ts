import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root }).filter((file) => !/node_modules|\.svelte-kit|web\/build/.test(file));

/** The rules of docs/rules in their order, by id, each with the file that states it. */
function statedRules(): { id: string; file: string }[] {
  return filesOf('docs/rules/*.md').flatMap((file) =>
    [...read(file).matchAll(/^- \*\*([A-Z]+-\d+)\*\* /gm)].map(([, id = '']) => ({ id, file })),
  );
}

/** Returns every id that a file cites, such as POST-7. Only prefixes of rules count, so UTF-8 is not an id. */
function citedIn(file: string, prefixes: ReadonlySet<string>): string[] {
  return [...read(file).matchAll(/\b([A-Z]+)-\d+\b/g)]
    .filter(([, prefix = '']) => prefixes.has(prefix))
    .map(([id]) => id);
}

describe('rules', () => {
  const rules = statedRules();
  const known = new Set(rules.map(({ id }) => id));
  const prefixes = new Set(rules.map(({ id }) => id.replace(/-\d+$/, '')));
  const sources = filesOf('{contract,server,web,bench}/**/*.{ts,js,svelte,css,sql}', '*.md', 'docs/**/*.md');
  const inTests = new Set(
    sources.filter((file) => /(^|\/)test\//.test(file)).flatMap((file) => citedIn(file, prefixes)),
  );
  const unproven = [...read('docs/rules/unproven.md').matchAll(/^- ([A-Z]+-\d+):/gm)].map(([, id]) => id);

  test('are found', () => {
    expect(known.size).toBeGreaterThan(500);
  });

  test('have ids that are used once, and prefixes that belong to one file', () => {
    const ids = rules.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const prefix of prefixes) {
      const files = new Set(rules.filter(({ id }) => id.startsWith(`${prefix}-`)).map(({ file }) => file));
      expect([...files], prefix).toHaveLength(1);
    }
  });

  test('exist wherever they are cited', () => {
    const unknown = sources.flatMap((file) =>
      citedIn(file, prefixes)
        .filter((id) => !known.has(id))
        .map((id) => `${file} cites ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  test('are cited by a test, unless they are listed as unproven', () => {
    const listed = new Set(unproven);
    expect([...known].filter((id) => !inTests.has(id) && !listed.has(id))).toEqual([]);
  });

  test('leave the list of unproven rules once a test cites them', () => {
    expect(unproven.filter((id) => id === undefined || !known.has(id) || inTests.has(id))).toEqual([]);
  });

  test('are the only numbered sources that code and tests cite', () => {
    const foreign = /\bspec (?:part )?\d|\(choices[,:) ]|\bchoices, [a-z]+[:)]|docs\/decisions \d/;
    const cites = sources
      .filter((file) => !file.endsWith('.md') && file !== join('contract', 'test', 'rules.test.ts'))
      .filter((file) => foreign.test(read(file)));
    expect(cites).toEqual([]);
  });
});

describe('decisions', () => {
  const index = read('docs/decisions.md');
  const filed = filesOf('docs/decisions/*.md').flatMap((file) =>
    [...read(file).matchAll(/^## (\d+)\. /gm)].map(([, number = '']) => ({ number, file })),
  );
  const waiting = [...index.matchAll(/^(\d+)\. \*\*/gm)].map(([, number = '']) => number);

  test('have numbers that are used once, filed or not', () => {
    const numbers = [...filed.map(({ number }) => number), ...waiting];
    expect(numbers.length).toBeGreaterThan(200);
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
  });

  test('are found through the index', () => {
    const link = ({ number, file }: { number: string; file: string }) =>
      `[${number}](${file.replaceAll('\\', '/').replace(/^docs\//, '')}#${number})`;
    expect(filed.map(link).filter((expected) => !index.includes(expected))).toEqual([]);
  });
});
