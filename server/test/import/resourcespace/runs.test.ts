import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImportRunReport } from '@vitrine/contract/imports';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { sentence, storedForm } from '../../../src/platform/language/sentence.ts';
import { openLibrary } from '../../support/library.ts';
import { optionsFor, runImport, unpackHarbour } from './harbour.ts';

const harbour = await unpackHarbour();
const library = await openLibrary();
const boss = await library.join('boss', 'admin');
const mara = await library.join('mara');
const { db } = library.deps;

async function newest() {
  const { items } = await boss.ok('listImports');
  const [run] = items;
  if (run === undefined) throw new Error('no import');
  return boss.ok('getImport', { params: { id: run.id } });
}

// IMPORT-11
test('shows administrators the report of an import, without links and passwords', async () => {
  await runImport(library, [...optionsFor(harbour), '--dry-run']);
  expect((await boss.ok('listImports')).items).toEqual([]);
  const path = join(harbour.directory, 'report.json');
  await runImport(library, [...optionsFor(harbour), '--report', path]);
  const whole = JSON.parse(await readFile(path, 'utf8'));
  const run = await newest();
  expect(run).toMatchObject({
    system: 'resourcespace',
    state: 'done',
    step: 'finished',
    done: 80,
    total: 80,
    error: null,
    counts: whole.counts,
    hashes: whole.hashes,
    link_count: whole.links.length,
  });
  for (const part of ['left_out', 'changed'] as const) {
    const sum = run[part].reduce((total, { count }) => total + count, 0);
    expect(sum).toBe(whole[part].length);
  }
  expect(run.left_out).toContainEqual({
    kind: 'file',
    label: 'file',
    reason: 'is missing in the file store; the asset has a text in its place',
    count: 1,
    ids: ['68'],
  });
  expect(run.count_labels.assets_created).toBe('assets created');
  for (const { url } of whole.links) expect(JSON.stringify(run)).not.toContain(url.slice(-32));
  expect((await mara.refused('listImports')).status).toBe(403);
  expect((await mara.refused('getImport', { params: { id: run.id } })).status).toBe(403);
});

// LANGUAGE-8
test('words a report for each reader, and shows reasons of an earlier version as they are', async () => {
  const { id } = await newest();
  const read = async (language: string): Promise<ImportRunReport> =>
    JSON.parse((await boss.send(`/admin/imports/${id}`, { headers: { 'accept-language': language } })).text);
  const missing = { kind: 'file', count: 1, ids: ['68'] };
  const german = await read('de');
  expect(german.count_labels.assets_created).toBe('Assets angelegt');
  expect(german.left_out).toContainEqual({
    ...missing,
    label: 'Datei',
    reason: 'fehlt im Dateispeicher; das Asset hat stattdessen einen Text',
  });
  const arabic = await read('ar');
  for (const { label, reason } of [...arabic.left_out, ...arabic.changed])
    expect([label, reason].filter((text) => !/\p{Script=Arabic}/u.test(text))).toEqual([]);

  const report = JSON.stringify({ left_out: [{ ...missing, reason: 'was lost' }] });
  await sql`update import_runs set report = ${report} where id = ${id}`.execute(db);
  expect((await read('de')).left_out).toEqual([{ ...missing, label: 'Datei', reason: 'was lost' }]);
});

// IMPORT-11
test('says why an import failed, and recognises one that was killed', async () => {
  const broken = (deps: typeof library.deps): typeof library.deps => ({
    ...deps,
    ladder: deps.ladder,
    get db(): typeof db {
      throw new Error('killed');
    },
  });
  await runImport(library, optionsFor(harbour), broken).catch(() => {});
  expect(await newest()).toMatchObject({ state: 'failed', error: 'killed' });
  const { rows } = await sql<{ id: string }>`insert into import_runs (system, seen_at)
    values ('resourcespace', now() - interval '2 minutes') returning id`.execute(db);
  const id = rows[0]?.id ?? '';
  expect((await boss.ok('getImport', { params: { id } })).state).toBe('interrupted');
  await sql`update import_runs set seen_at = now() where id = ${id}`.execute(db);
  expect((await boss.ok('getImport', { params: { id } })).state).toBe('running');
  // LANGUAGE-8
  await sql`update import_runs set error = ${storedForm(sentence('the disk is full'))}`.execute(db);
  const headers = { 'accept-language': 'de' };
  for (const path of ['/admin/imports', `/admin/imports/${id}`])
    expect((await boss.send(path, { headers })).text).toContain('die Festplatte ist voll');
  const unknown = { id: '00000000-0000-4000-8000-000000000000' };
  expect((await boss.refused('getImport', { params: unknown })).status).toBe(404);
});
