import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { CONNECTIONS, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define } from './define.ts';
import { fieldValueOf } from './values/fields.ts';

/** Flags and conditions that change what forms show, and nothing else. */

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const asset = (await upload(mara, plainFile())).id;

const write = (field_id: string, value_text: string) =>
  mara.ok('setAssetFieldValue', { params: { id: asset, field_id }, body: { value_text } });

// FIELD-13, FIELD-14, FIELD-24, FIELD-28
test('a field that forms do not show is written, read, searched and filtered by', async () => {
  const kind = await define(root, { type: 'select', options: { values: ['photo', 'film'] } });
  const { id, code } = await define(root, { default_value: { kind: 'literal', value_text: 'unsorted' } });
  await change(root, id, {
    show_in_advanced_search: false,
    show_on_upload: false,
    display_condition: [`${kind.code}=film`],
  });
  await write(kind.id, 'photo');
  expect(await write(id, 'ocarina')).toMatchObject({ value_text: 'ocarina' });
  expect((await fieldValueOf(mara, asset, id))?.value_text).toBe('ocarina');
  const filtered = await mara.ok('listAssets', { query: { filter: [`field:${code}~ocar`] } });
  expect(filtered.items.map((one) => one.id)).toEqual([asset]);
  expect((await mara.ok('search', { query: { q: 'ocarina', kind: 'asset' } })).total).toBe(1);
  const made = await upload(mara, plainFile());
  expect((await fieldValueOf(mara, made.id, id))?.value_text).toBe('unsorted');
});

// HTTP-35
test('returns 503 and writes nothing when a concurrent change takes too long', async () => {
  const { id } = await define(root);
  const { db } = library.deps;
  // At once, so that each connection of the pool gets the setting.
  const shorten = () => sql`select set_config('lock_timeout', '100ms', false), pg_sleep(0.2)`.execute(db);
  await Promise.all(Array.from({ length: CONNECTIONS }, shorten));
  const path = `/assets/${asset}/fields/${id}`;
  const answer = await db.transaction().execute(async (tx) => {
    await sql`select from fields where id = ${id} for update`.execute(tx);
    return mara.send(path, { method: 'PUT', body: { value_text: 'x' } });
  });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await mara.ok('listAssetFieldHistory', { params: { id: asset, field_id: id } })).toMatchObject({
    items: [],
  });
  await write(id, 'x');
});
