import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Deps } from '../../../src/core/deps.ts';
import { type Library, openLibrary } from '../../support/library.ts';
import { type Harbour, optionsFor, runImport, unpackHarbour } from './harbour.ts';

const harbour = await unpackHarbour();
const dump = await readFile(harbour.dump, 'utf8');
let written = 0;

/** The installation with a changed dump. */
async function withDump(change: (text: string) => string): Promise<Harbour> {
  written += 1;
  const path = join(harbour.directory, `dump-${written}.sql`);
  const changed = change(dump);
  expect(changed).not.toBe(dump);
  await writeFile(path, changed);
  return { ...harbour, dump: path };
}

async function openWithBoss(): Promise<Library> {
  const library = await openLibrary();
  await library.join('boss', 'admin');
  return library;
}

/** A library with the whole import. */
const whole = await openLibrary();
const boss = await whole.join('boss', 'admin');
await runImport(whole, optionsFor(harbour));
/** A library into which nothing is imported until the last test that uses it. */
const untouched = await openWithBoss();

const counted = [
  ...[
    'users',
    'assets',
    'asset_field_values',
    'asset_shares',
    'fields',
    'field_terms',
    'collections',
    'collection_assets',
  ],
  ...[
    'comments',
    'annotations',
    'posts',
    'share_links',
    'resource_requests',
    'teams',
    'team_members',
    'roles',
    'related_assets',
    'imported_ids',
  ],
];

async function countRows({ deps }: Library): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of counted) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(deps.db);
    counts[table] = rows[0]?.n ?? 0;
  }
  return counts;
}

/** Fails at the transaction of this number, as a kill does. */
function failingAt(number: number) {
  let begun = 0;
  return (deps: Deps): Deps => {
    const db = new Proxy(deps.db, {
      get(target, name) {
        if (name === 'transaction') {
          begun += 1;
          if (begun === number) throw new Error('killed');
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    return { ...deps, ladder: deps.ladder, db };
  };
}

// IMPORT-2
test('goes on after it was killed at any stage, with the same result', async () => {
  const library = await openWithBoss();
  let kills = 0;
  // While it writes types, fields, accounts, members, a collection, requests, links, discussions, audiences and terms.
  for (const at of [2, 20, 70, 40, 42, 42, 36, 26, 17, 12]) {
    await runImport(library, optionsFor(harbour), failingAt(at)).catch((error: Error) => {
      expect(error.message).toBe('killed');
      kills += 1;
    });
  }
  // Resources are written in parallel, so that the last transaction is not always the same.
  expect(kills).toBeGreaterThan(7);
  expect((await runImport(library, optionsFor(harbour))).code).toBe(3);
  expect(await countRows(library)).toEqual(await countRows(whole));
});

// IMPORT-2
test('brings what is new and changed since, and keeps what people have changed here', async () => {
  const idOf = async (kind: string, id: number) =>
    (
      await whole.deps.db
        .selectFrom('imported_ids')
        .select('target')
        .where('kind', '=', kind)
        .where('old_id', '=', String(id))
        .executeTakeFirstOrThrow()
    ).target;
  const [asset, credit, notes] = [
    await idOf('resource', 1),
    await idOf('field', 10),
    await idOf('field', 18),
  ];
  await boss.ok('setAssetFieldValue', {
    params: { id: asset, field_id: credit },
    body: { value_text: 'Ours' },
  });
  const changed = await withDump((text) => text.replaceAll("'Fish market at dawn'", "'Fish market at noon'"));
  const again = await runImport(whole, optionsFor(changed));
  expect(again.out).toMatch(/1 assets changed/);
  const now = await boss.ok('getAsset', { params: { id: asset } });
  expect(now).toMatchObject({ title: 'Fish market at noon' });
  const { items } = await boss.ok('listAssetFieldValues', { params: { id: asset } });
  expect(items.find(({ field_id }) => field_id === credit)?.value_text).toBe('Ours');
  expect(items.find(({ field_id }) => field_id === notes)).toBeDefined();
});

// IMPORT-3
test('writes nothing of a dump that is cut off', async () => {
  const before = await countRows(untouched);
  const cut = await withDump((text) => text.slice(0, -5000));
  const { code, out } = await runImport(untouched, optionsFor(cut));
  expect([code, out]).toEqual([1, expect.stringMatching(/is cut off: it ends/)]);
  expect(await countRows(untouched)).toEqual(before);
});

test('takes a tree with a cycle, options without labels, and accounts that differ by case', async () => {
  const library = await openWithBoss();
  const odd = await withDump((text) =>
    text
      .replace(/\(283,89,('(?:[^'\\]|\\.)*'),NULL,/, '(283,89,$1,286,')
      .replace(/\((\d+),91,'Winter',/, "($1,91,'',")
      .replaceAll("'legacy.md5'", "'CARLA'"),
  );
  const { code, out } = await runImport(library, optionsFor(odd));
  expect(code).toBe(3);
  expect(out).toMatch(/option .*283.*: was above itself in the tree of field 89/);
  expect(out).toMatch(/account 13: an account of this name exists/);
  const { rows } = await sql<{
    label: string;
  }>`select label from field_terms where label like '(option%'`.execute(library.deps.db);
  expect(rows).toHaveLength(1);
});

// IMPORT-6
test('takes choices from a mapping file, and refuses one with an unknown property', async () => {
  const before = await countRows(untouched);
  const path = join(harbour.directory, 'mapping.json');
  const dry = await runImport(untouched, [...optionsFor(harbour), '--dry-run', '--mapping', path]);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('nothing was imported')]);
  expect(dry.out).toMatch(/^ {2}resource_log: 1339$/m);
  // IMPORT-6
  expect(dry.out).toMatch(/^Left out \(\d+\):$/m);
  expect(dry.out).toContain('share key 6a5d3b53c8: it invited to upload');
  expect(dry.out).toContain('group 10: its configuration is PHP code');
  expect(dry.out).toContain('text home/welcometext/fr: a text of its pages');
  expect(await countRows(untouched)).toEqual(before);
  const mapping = JSON.parse(await readFile(path, 'utf8'));
  expect(mapping.$schema).toMatch(/^data:application\/schema\+json,/);
  await writeFile(path, JSON.stringify({ ...mapping, colour: 'blue' }));
  const wrong = await runImport(untouched, [...optionsFor(harbour), '--mapping', path]);
  expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('colour')]);
  expect(await countRows(untouched)).toEqual(before);
  mapping.fields['10'] = { code: 'credit_line_of_old', type: 'longtext', label: 'Credit line' };
  mapping.fields['1'].import = false;
  mapping.users['13'].import = false;
  mapping.groups['7'].role = 'member';
  mapping.alternatives = 'versions';
  await writeFile(path, JSON.stringify(mapping));
  const { code, out } = await runImport(untouched, [...optionsFor(harbour), '--mapping', path]);
  expect(code).toBe(3);
  expect(out).toMatch(/field 1: the mapping leaves this field out/);
  const { rows } = await sql<{ code: string; type: string; versions: number; role: string }>`
    select f.code, f.type, (select count(*) from asset_versions v join imported_ids i on i.target = v.asset_id::text
      where i.kind = 'resource' and i.old_id = '1') as versions,
      (select r.code from users u join roles r on r.id = u.role_id where u.username = 'ingrid.berg') as role
    from fields f join imported_ids i on i.target = f.id::text where i.kind = 'field' and i.old_id = '10'`.execute(
    untouched.deps.db,
  );
  expect(rows).toEqual([{ code: 'credit_line_of_old', type: 'longtext', versions: 3, role: 'member' }]);
  await rm(path);
});

// IMPORT-1
test('says that the library has no administrator before it reads the dump', async () => {
  const cut = await withDump((text) => text.slice(0, text.length / 2));
  const { code, out } = await runImport(await openLibrary(), optionsFor(cut));
  expect([code, out]).toEqual([1, 'the library has no administrator yet; start it and set it up']);
});
