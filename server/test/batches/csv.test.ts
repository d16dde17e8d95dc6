import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { CsvPreview } from '@vitrine/contract/asset-csv';
import { fieldTypes } from '@vitrine/contract/field-types';
import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { withCsvFile } from '../../src/content/csv/read.ts';
import { define } from '../fields/define.ts';
import { optionsFor, samplesFor } from '../fields/values/samples.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { grant, nowhere, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const tom = await library.join('tom');
const ids: string[] = [];
let toms = '';
const fields: Record<string, string> = {};

beforeAll(async () => {
  for (const name of ['one.jpg', 'two.jpg', 'three.jpg'])
    ids.push((await upload(mara, plainFile(), { title: '', sensitivity: 'org' }, name)).id);
  toms = (await upload(tom, plainFile(), { sensitivity: 'org' }, 'toms.jpg')).id;
  const create = async (body: Parameters<typeof define>[1]) => {
    const { id, code } = await define(root, body);
    fields[code] = id;
  };
  await create({ code: 'place', type: 'text', display_order: 1 });
  await create({ code: 'stars', type: 'number', options: { max: 5 }, display_order: 2 });
  await create({ code: 'moods', type: 'multi_select', options: { values: ['calm', 'wild'] } });
  await create({ code: 'open_words', type: 'multi_select', open_vocabulary: true });
  await create({ code: 'secret', type: 'text', read_capability: 'system.admin' });
  await create({ code: 'fixed', type: 'text', write_capability: 'system.admin' });
  await create({ code: 'file_name', type: 'text' });
});

const [one, two, three] = [() => ids[0] ?? '', () => ids[1] ?? '', () => ids[2] ?? ''];

const rowsOf = (text: string) => parse<Record<string, string>>(text, { columns: true, bom: true });
const exported = async (who: Visitor, query = '') => {
  const { status, text, headers } = await who.send(`/assets/export.csv${query}`);
  expect(status, text).toBe(200);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  return rowsOf(text);
};
const exportedOf = async (who: Visitor, id: string) => (await exported(who, `?ids=${id}`))[0] ?? {};

const send = (who: Visitor, file: string | Uint8Array<ArrayBuffer>, query = '') => {
  const body = new FormData();
  body.append('file', new Blob([file]), 'sheet.csv');
  return who.send(`/assets/import.csv${query}`, { method: 'POST', body });
};
const preview = async (who: Visitor, file: string | Uint8Array<ArrayBuffer>, query = '') => {
  const { status, text } = await send(who, file, `?dry_run=true${query}`);
  expect(status, text).toBe(200);
  return JSON.parse(text) as CsvPreview;
};
const refused = async (file: string, query = '') => {
  const { status, text } = await send(mara, file, query);
  expect(status, text).toBe(422);
  return (JSON.parse(text) as { error: string }).error;
};
const start = async (who: Visitor, file: string, query = '') => {
  const { status, text } = await send(who, file, query);
  expect(status, text).toBe(202);
  return (JSON.parse(text) as { job_id: string }).job_id;
};
const run = async (who: Visitor, file: string, query = '') => {
  const id = await start(who, file, query);
  await library.runJobs();
  return who.ok('getBatch', { params: { id } });
};
const set = (id: string, code: string, body: object) =>
  mara.ok('setAssetFieldValue', { params: { id, field_id: fields[code] ?? '' }, body });

describe('the export', () => {
  // CSV-1, CSV-2
  test('has a row for each asset that the caller is shown, and the fields that they may read', async () => {
    const rows = await exported(mara, `?ids=${two()}&ids=${one()}&ids=${nowhere}`);
    expect(rows.map(({ id, file_name }) => [id, file_name])).toEqual([
      [two(), 'two.jpg'],
      [one(), 'one.jpg'],
    ]);
    expect(rows[0]?.file_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(rows[0] ?? {}).slice(0, 3)).toEqual(['id', 'file_name', 'file_hash']);
    expect(rows[0]).toHaveProperty('place');
    expect(rows[0]).toHaveProperty('field:file_name');
    expect(rows[0]).not.toHaveProperty('secret');
    expect((await exported(root, `?ids=${one()}`))[0]).toHaveProperty('secret');
    const hidden = await upload(tom, plainFile(), { sensitivity: 'restricted' });
    expect(await exported(mara, `?ids=${hidden.id}`)).toEqual([]);
  });

  // CSV-1
  test('is narrowed like the list of assets, and begins with a mark if asked', async () => {
    await set(one(), 'place', { value_text: 'Lisbon' });
    expect((await exported(tom, '?filter=field:place=Lisbon')).map(({ id }) => id)).toEqual([one()]);
    expect(await exported(tom, `?q=lisbon&owner_ref=${tom.ref}`)).toEqual([]);
    expect((await exported(mara, `?owner_ref=${mara.ref}&sort=oldest`)).map(({ id }) => id)).toEqual(ids);
    expect((await mara.send('/assets/export.csv?filter=field:secret=x')).status).toBe(400);
    const marked = await fetch(`${library.address}/api/v1/assets/export.csv?ids=${one()}&bom=true`, {
      headers: { cookie: `user=${mara.cookie()}` },
    });
    expect([...new Uint8Array(await marked.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect((await library.anonymous().send('/assets/export.csv')).status).toBe(401);
    expect((await mara.send('/assets/export.csv', { method: 'POST' })).status).toBe(405);
  });

  // CSV-4
  test('neutralises formulas, and the import reads every text as it was', async () => {
    const texts = ['=1+1', '@sum', '-x', "'=1", "''", '!clear', '+', 'a|b', 'a;b"c,d\ne', '\ttab'];
    const files: string[] = [];
    for (const text of texts) {
      const { id } = await upload(mara, plainFile(text), { sensitivity: 'org' });
      files.push(id);
      await set(id, 'place', { value_text: text });
    }
    const { text: csv } = await mara.send(`/assets/export.csv?${files.map((id) => `ids=${id}`).join('&')}`);
    const cells = rowsOf(csv).map(({ place }) => place);
    expect(cells).toHaveLength(texts.length);
    for (const [nth, text] of texts.entries())
      if (/^[=+\-@\t]/.test(text)) expect(cells[nth]).toBe(`'${text}`);
    expect((await preview(mara, csv)).changes).toEqual([]);
    for (const id of files) await set(id, 'place', { value_text: 'before' });
    expect((await preview(mara, csv)).changes).toEqual(
      texts.map((to, nth) => ({ id: files[nth], field: 'place', from: 'before', to })),
    );
    await set(one(), 'stars', { value_num: -2 });
    expect((await exportedOf(mara, one())).stars).toBe('-2');
  });

  // CSV-3
  test('writes values of every type so that they can be read again', async () => {
    const samples = samplesFor(two());
    const made = new Map<string, string>();
    for (const type of fieldTypes) {
      const { id } = await define(root, {
        code: `every_${type}`,
        type,
        ...(optionsFor(type) === undefined ? {} : { options: optionsFor(type) ?? {} }),
      });
      made.set(type, id);
      await mara.ok('setAssetFieldValue', { params: { id: one(), field_id: id }, body: samples[type].given });
    }
    const row = await exportedOf(mara, one());
    expect(row).toMatchObject({
      every_number: '76.5',
      every_boolean: '1',
      every_date: '2024-02-29',
      every_datetime: '2024-02-29T23:30:00-05:00',
      every_multi_select: 'quay|pier',
      every_reference: two(),
    });
    const names = fieldTypes.map((type) => `every_${type}`);
    const cell = (text = '') => `"${text.replaceAll('"', '""')}"`;
    const csv = `id,${names.join()}\n${one()},${names.map((name) => cell(row[name])).join()}\n`;
    expect(await preview(mara, csv)).toMatchObject({ rows: 1, changed: 0, unchanged: 1 });
    const before = await mara.ok('listAssetFieldValues', { params: { id: one() } });
    for (const id of made.values())
      await mara.ok('clearAssetFieldValue', { params: { id: one(), field_id: id }, body: {} });
    expect(await run(mara, csv)).toMatchObject({ changed: 1, refused: [] });
    const after = await mara.ok('listAssetFieldValues', { params: { id: one() } });
    const values = ({ items }: typeof before) =>
      items
        .filter(({ field_code }) => field_code.startsWith('every_'))
        .map(({ set_at: _, ...value }) => value);
    expect(values(after)).toHaveLength(fieldTypes.length);
    expect(values(after)).toEqual(values(before));
  });
});

describe('the import', () => {
  // CSV-8, CSV-9
  test('shows the differences and the refused rows, and writes nothing, on a dry run', async () => {
    await set(one(), 'place', { value_text: 'Lisbon' });
    await set(two(), 'place', { value_text: 'Porto' });
    await set(two(), 'stars', { value_num: 3 });
    const csv = [
      'id,file_name,place,stars,moods,open_words,fixed',
      `${one()},other.jpg,Faro,,calm|WILD|calm,,`,
      `${two().toUpperCase()},,!clear,3.0,,new word|other,`,
      `${three()},,,,,,x`,
      '',
      `${toms},,Braga,,,,`,
      `${nowhere},,Braga,,,,`,
      ',,,,,,',
    ].join('\n');
    const found = await preview(mara, csv);
    expect(found).toEqual({
      rows: 5,
      changed: 2,
      change_count: 4,
      unchanged: 0,
      changes: [
        { id: one(), field: 'place', from: 'Lisbon', to: 'Faro' },
        { id: one(), field: 'moods', from: null, to: 'calm|wild' },
        { id: two(), field: 'place', from: 'Porto', to: null },
        { id: two(), field: 'open_words', from: null, to: 'new word|other' },
      ],
      refused: [
        { row: 4, id: three(), reason: 'missing capability system.admin to write fixed' },
        { row: 6, id: toms, reason: 'only its owner can change it' },
        { row: 7, id: nowhere, reason: 'not found' },
      ],
      refused_count: 3,
    });
    expect((await exportedOf(mara, one())).place).toBe('Lisbon');
    const { values } = await mara.ok('listFieldValues', { params: { id: fields.open_words ?? '' } });
    expect(values).toEqual([]);
  });

  // LANGUAGE-8
  test('shares with other batches the reason against a value, in the language of its reader', async () => {
    const action = { kind: 'set_field', field_id: fields.fixed ?? '', value_text: 'x' } as const;
    const { job_id } = JSON.parse(
      (await mara.send('/assets/batch', { method: 'POST', body: { ids: [one()], action } })).text,
    );
    await library.runJobs();
    const headers = { 'accept-language': 'de' };
    const refused = [{ reason: 'fehlende Berechtigung system.admin, um fixed zu schreiben' }];
    expect(JSON.parse((await mara.send(`/jobs/${job_id}`, { headers })).text)).toMatchObject({ refused });
    const { items } = JSON.parse((await mara.send(`/jobs/${job_id}/items`, { headers })).text);
    expect(items).toMatchObject(refused);
    const asked = { method: 'POST', body: { ids: [one()], action, dry_run: true }, headers };
    expect(JSON.parse((await mara.send('/assets/batch', asked)).text)).toMatchObject({ refused });
  });

  // CSV-10
  test('is a job that writes what differs, reports every row, and can be undone', async () => {
    await set(one(), 'place', { value_text: 'Lisbon' });
    await set(two(), 'place', { value_text: 'Porto' });
    const csv = `id;title;place;stars\n${one()};A title;Faro;2,5\n${two()};;!clear;\n${three()};;;\n${toms};;x;\n`;
    const done = await run(mara, csv);
    expect(done).toMatchObject({
      kind: 'import_csv',
      state: 'done',
      total: 4,
      done: 4,
      changed: 2,
      unchanged: 1,
      refused: [{ id: toms, reason: 'row 5: only its owner can change it' }],
    });
    // LANGUAGE-8
    const german = await mara.send(`/jobs/${done.id}`, { headers: { 'accept-language': 'de' } });
    expect(JSON.parse(german.text)).toMatchObject({
      refused: [{ reason: 'Zeile 5: nur wer es besitzt, kann es ändern' }],
    });
    expect(await exportedOf(mara, one())).toMatchObject({ title: 'A title', place: 'Faro', stars: '2.5' });
    expect((await exportedOf(mara, two())).place).toBe('');
    const { items } = await mara.ok('listAssetFieldHistory', {
      params: { id: one(), field_id: fields.place ?? '' },
    });
    expect(items[0]).toMatchObject({ before: { value_text: 'Lisbon' }, after: { value_text: 'Faro' } });
    await set(two(), 'place', { value_text: 'Mine now' });
    const { job_id } = await mara.ok('undoBatch', { params: { id: done.id } });
    await library.runJobs();
    expect(await mara.ok('getBatch', { params: { id: job_id } })).toMatchObject({
      changed: 1,
      refused: [{ id: two(), reason: 'changed since' }],
    });
    expect(await exportedOf(mara, one())).toMatchObject({ title: '', place: 'Lisbon' });
    expect((await exportedOf(mara, two())).place).toBe('Mine now');
  });

  // CSV-10, BATCH-5
  test('checks rights and values again for each asset when it is written', async () => {
    await grant(library, tom, 'assets.admin');
    const id = await start(
      tom,
      `id,place,moods\n${one()},Tavira,\n${toms},Tavira,\n${two()},,calm\n${three()},Tavira,calm`,
    );
    await withdrawGrants(library, tom);
    await root.ok('updateField', {
      params: { id: fields.place ?? '' },
      body: { regexp_filter: '[A-S].*' },
    });
    await library.runJobs();
    const done = await tom.ok('getBatch', { params: { id } });
    expect(done).toMatchObject({ total: 4, changed: 0, unchanged: 0, refused_count: 4 });
    expect(done.refused.map(({ reason }) => reason)).toEqual([
      'only its owner can change it',
      'place does not match [A-S].*',
      'only its owner can change it',
      'only its owner can change it',
    ]);
    await root.ok('updateField', { params: { id: fields.place ?? '' }, body: { clear_regexp_filter: true } });
  });

  // CSV-8
  test('matches by the hash or the file name among the files that the caller may edit', async () => {
    const twin = await upload(mara, plainFile(), { sensitivity: 'org' }, 'two.jpg');
    const byName = 'file_name,place\none.jpg,Evora\ntwo.jpg,Evora\ntoms.jpg,Evora\n';
    expect(await preview(mara, byName, '&match=filename')).toMatchObject({
      changes: [{ id: one(), field: 'place', to: 'Evora' }],
      refused: [
        { row: 3, reason: '2 files match' },
        { row: 4, reason: 'not found' },
      ],
    });
    const { file_hash } = await exportedOf(mara, twin.id);
    const byHash = `file_hash,place\n${file_hash?.toUpperCase()},Evora\n`;
    expect((await preview(mara, byHash, '&match=hash')).refused).toEqual([
      { row: 2, reason: expect.stringMatching(/^\d files match$/) },
    ]);
    // A Mac decomposes the names of files, and spreadsheets compose them.
    const { id } = await upload(mara, plainFile(), { sensitivity: 'org' }, 'e\u0301te\u0301.jpg');
    expect(
      await preview(mara, 'file_name,place\n\u00e9t\u00e9.jpg,Evora\n', '&match=filename'),
    ).toMatchObject({
      changes: [{ id, field: 'place', to: 'Evora' }],
      refused: [],
    });
    const done = await run(mara, byName, '?match=filename');
    expect(done).toMatchObject({ total: 3, changed: 1, refused_count: 2 });
  });

  // CSV-6
  test.each<[string, (text: string) => string | Uint8Array<ArrayBuffer>]>([
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['semicolons', (text) => text.replaceAll(',', ';')],
    [
      'tabs in UTF-16',
      (text) => new Uint8Array(Buffer.from(`\ufeff${text.replaceAll(',', '\t')}`, 'utf16le')),
    ],
    ['UTF-16 in the other order', (text) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le').swap16())],
    ['sep=;', (text) => `sep=;\r\n${text.replaceAll(',', ';').replaceAll('\n', '\r\n')}`],
    ['CR only', (text) => text.replaceAll('\n', '\r')],
    ['windows-1252', (text) => new Uint8Array(Buffer.from(text, 'latin1'))],
    ['separators at the end', (text) => text.replaceAll('\n', ',,\n')],
  ])('reads a file with %s', async (_, encode) => {
    const found = await preview(mara, encode(`id,place\n${three()},"Évora, Portugal"\n`));
    const to = String(encode('')).includes('sep=;') ? 'Évora; Portugal' : found.changes[0]?.to;
    expect(found).toMatchObject({ rows: 1, changes: [{ id: three(), field: 'place', to }] });
    expect(to).toMatch(/^Évora[,;\t] Portugal$/);
  });

  // CSV-7
  test.each<[string, () => string, string, string?]>([
    ['an unknown column', () => `id,nothing\n${one()},x`, 'row 1, column nothing: there is no such field'],
    ['a hidden column', () => `id,secret\n${one()},x`, 'row 1, column secret: there is no such field'],
    ['a column twice', () => `id,place,place\n${one()},x,y`, 'row 1, column place: the column occurs twice'],
    ['no column of ids', () => 'place\nx', 'row 1, column id: the file has no such column'],
    [
      'an id twice',
      () => `id,place\n${one()},x\n\n${one().toUpperCase()},y`,
      '', // compared below
    ],
    ['a bad id', () => `id,place\n${one()},x\n12,y`, 'row 3, column id: it is not an id'],
    ['no id', () => 'id,place\n,y', 'row 2, column id: it is not an id'],
    [
      'a cell beyond',
      () => `id,place\n${one()},x,y`,
      'row 2, column 3: the row has more cells than the file has columns',
    ],
    ['a word for a number', () => `id,stars\n${one()},many`, 'row 2, column stars: '],
    ['a number that is too high', () => `id,stars\n${one()},6`, 'row 2, column stars: '],
    ['an unknown term', () => `id,moods\n${one()},calm|odd`, 'row 2, column moods: '],
    ['a NUL character', () => `id,place\n${one()},a\0b`, 'row 2, column place: it contains a NUL character'],
    ['a long term', () => `id,open_words\n${one()},${'x'.repeat(201)}`, 'row 2, column open_words: '],
    ['a long title', () => `id,title\n${one()},${'x'.repeat(501)}`, 'row 2, column title: '],
    [
      'an open quotation mark',
      () => `id,place\n${one()},"x`,
      'row 2: a quotation mark is opened here or below and never closed',
    ],
    [
      'an open quotation mark far above its end',
      () => `id,place\n${one()},x\n${two()},"${'x'.repeat(5_000_000)}`,
      'row 3: a quotation mark is opened here or below and never closed',
    ],
    ['nothing in it', () => '\n', 'row 1: the file is empty'],
    [
      'a bad hash',
      () => 'file_hash,place\nabc,x',
      'row 2, column file_hash: it is not a SHA-256 in hexadecimal',
      '?match=hash',
    ],
    [
      'a file name in two Unicode forms',
      () => 'file_name,place\n\u00e9.jpg,x\ne\u0301.jpg,x',
      'row 3, column file_name: e\u0301.jpg is in row 2, too',
      '?match=filename',
    ],
    ['no file name', () => 'file_name,place\n,x', 'row 2, column file_name: it is empty', '?match=filename'],
  ])('of a file with %s is a 422 that writes nothing', async (_, csv, message, query) => {
    const wanted = message === '' ? `row 4, column id: ${one()} is in row 2, too` : message;
    expect(await refused(csv(), query)).toContain(wanted);
    const { rows } = await sql<{ waiting: number }>`select count(*) as waiting from batches
      where state in ('queued', 'running')`.execute(library.deps.db);
    expect(rows[0]?.waiting).toBe(0);
  });

  // CSV-6
  test('parses each file in a thread, which ends with its request', async () => {
    const threads: Promise<unknown>[] = [];
    const count = (message: unknown) => {
      // Node publishes every new thread there.
      const { worker } = message as { worker: Worker };
      threads.push(once(worker, 'exit'));
    };
    subscribe('worker_threads', count);
    try {
      await preview(mara, `id,place\n${one()},x\n`);
      expect(await refused(`id,place\n12,x\n${one()},y`)).toMatch(/^row 2, column id/);
      await refused(`id,place\n${one()},"${'x\n'.repeat(3_000_000)}`);
    } finally {
      unsubscribe('worker_threads', count);
    }
    expect(threads).toHaveLength(3);
    await Promise.all(threads);
  });

  // CSV-5
  test('takes one file, of a bounded number of rows and of bytes', async () => {
    const path = join(library.config.dataDir, 'rows.csv');
    await writeFile(path, 'id,place\n\na,1\nb,2\n');
    const read = async (most: number) => withCsvFile(path, (file) => Array.fromAsync(file.rows()), most);
    expect((await read(3)).flat()).toHaveLength(3);
    await expect(read(2)).rejects.toMatchObject({ status: 413 });
    expect((await send(mara, new Uint8Array(50 * 1024 * 1024 + 1))).status).toBe(413);
    const without = new FormData();
    const answer = await mara.send('/assets/import.csv', { method: 'POST', body: without });
    expect(answer.status).toBe(400);
    expect((await mara.send('/assets/import.csv', { method: 'POST', body: {} })).status).toBe(415);
    expect(
      (await library.anonymous().send('/assets/import.csv', { method: 'POST', body: without })).status,
    ).toBe(401);
    expect((await mara.send('/assets/import.csv')).status).toBe(405);
    expect((await send(mara, `id\n${one()}`, '?match=size')).status).toBe(400);
  });
});
