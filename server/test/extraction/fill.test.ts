import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { jobHandlers } from '../../src/boot/jobs.ts';
import { openDeps } from '../../src/boot/service.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { define, store } from '../fields/values/fields.ts';
import { mp4, stopTagging } from '../media/tagged-files.ts';
import { formOf, openLibrary, upload } from '../support/library.ts';
import { bearer } from '../support/people.ts';
import { shownValue, tagged, wire } from './files.ts';

const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const mara = await library.join('mara');
const { db, storage, log } = library.deps;
afterAll(stopTagging);

const ridge = () => tagged({ 'XMP-dc:Title': 'Ridge' });
const rewire = (id: string, source: string, mode?: 'append') =>
  admin.ok('setFieldExtraction', { params: { id }, body: { source, ...(mode && { mode }) } });
const unwire = async (...ids: string[]) => {
  for (const id of ids) await rewire(id, '');
};
const metadata = db.selectFrom('file_metadata').select('extracted_at');
const readAt = (hash: string | null) => metadata.where('hash', '=', hash ?? '').execute();

describe('a job', () => {
  // EXTRACT-8
  test('reads no file while no field is wired', async () => {
    const { file_hash } = await upload(mara, await ridge());
    await library.runJobs();
    expect(await readAt(file_hash)).toEqual([]);
  });

  // ASSET-33, EXTRACT-2, EXTRACT-6, EXTRACT-7, EXTRACT-8, EXTRACT-12, FIELD-16, FIELD-21, VALUE-6
  test('fills the wired fields of a new asset in the form of their type, and reads each file once', async () => {
    const { items: mirrors } = await admin.ok('listFields', {});
    const [title = '', description = ''] = mirrors.map(({ id }) => id);
    await rewire(title, 'title');
    await rewire(description, 'description');
    const city = [{ value: 'bergen', label: 'Bergen', aliases: ['bjørgvin'] }];
    const exempt = { read_only: true, regexp_filter: '[a-z]+', applies_to: [1, 3] };
    const ids = {
      headline: await wire(library, admin, 'text', { source: 'title', ...exempt }),
      story: await wire(library, admin, 'longtext', { source: 'description' }),
      rich: await wire(library, admin, 'rich_text', { source: 'copyright' }),
      shutter: await wire(library, admin, 'text', { source: 'exposure_time' }),
      seconds: await wire(library, admin, 'number', { source: 'exposure_time' }),
      iso: await wire(library, admin, 'number', { source: 'iso' }),
      day: await wire(library, admin, 'date', { source: 'capture_datetime' }),
      instant: await wire(library, admin, 'datetime', { source: 'capture_datetime' }),
      words: await wire(library, admin, 'multi_select', { source: 'keywords', open_vocabulary: true }),
      city: await wire(library, admin, 'select', { source: 'city', terms: city }),
      unfit: await wire(library, admin, 'number', { source: 'title' }),
    };
    const unfilled = [
      await wire(library, admin, 'reference', { source: 'title' }),
      await wire(library, admin, 'text', { source: 'title', applies_to: [3] }),
      await wire(library, admin, 'text', { source: 'title', status: 'deprecated' }),
    ];
    const bytes = await tagged({
      'XMP-dc:Title': '007',
      'IPTC:Caption-Abstract': 'Four mornings',
      'EXIF:Copyright': '<b>© Mara</b>',
      'EXIF:ExposureTime': '0.004',
      'EXIF:ISO': '400',
      'EXIF:DateTimeOriginal': '2024:05:06 01:08:09',
      'EXIF:OffsetTimeOriginal': '+02:00',
      'XMP-dc:Subject': ['North Sea', 'pier'],
      'XMP-photoshop:City': 'Bjørgvin',
    });
    const asset = await upload(mara, bytes, { metadata: '{"title":"theirs"}' });
    await library.runJobs();
    const { items } = await mara.ok('listAssetFieldValues', { params: { id: asset.id } });
    const of = (id: string) => items.find(({ field_id }) => field_id === id);
    expect(of(ids.headline)).toMatchObject({ value_text: '007', set_by: 'xmp', set_by_user_ref: null });
    expect(of(ids.story)).toMatchObject({ value_text: 'Four mornings', set_by: 'iptc' });
    expect(of(ids.rich)?.value_text).toContain('&lt;b&gt;© Mara');
    expect(of(ids.shutter)).toMatchObject({ value_text: '1/250', set_by: 'exif' });
    expect(of(ids.seconds)).toMatchObject({ value_num: 0.004 });
    expect(of(ids.iso)).toMatchObject({ value_num: 400 });
    // The local date, although UTC was still a day behind.
    expect(of(ids.day)?.value_date).toMatch(/^2024-05-06T00:00/);
    expect(Date.parse(of(ids.instant)?.value_date ?? '')).toBe(Date.parse('2024-05-05T23:08:09Z'));
    expect(of(ids.words)?.resolved_options?.map(({ label }) => label)).toEqual(['North Sea', 'pier']);
    expect(of(ids.city)).toMatchObject({ value_text: 'bergen' });
    expect(of(ids.unfit)).toMatchObject({ value_num: 7 });
    expect(unfilled.map(of)).toEqual([undefined, undefined, undefined]);
    // Keywords fill fields only, and metadata of a client is kept.
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
      title: '007',
      description: 'Four mornings',
      tags: [],
      metadata: { title: 'theirs' },
    });

    const before = await readAt(asset.file_hash);
    const named = await upload(admin, bytes, { title: 'Mine' });
    await library.runJobs();
    expect(await shownValue(admin, named, ids.headline)).toMatchObject({ value_text: '007', set_by: 'xmp' });
    expect(await admin.ok('getAsset', { params: { id: named.id } })).toMatchObject({ title: 'Mine' });
    expect(await readAt(asset.file_hash)).toEqual(before);
    await unwire(title, description, ...Object.values(ids), ...unfilled);
  });

  // EXTRACT-18
  test('writes what searches find of an asset once, with the words of all fields', async () => {
    const ids = {
      headline: await wire(library, admin, 'text', { source: 'title' }),
      story: await wire(library, admin, 'longtext', { source: 'description' }),
      credit: await wire(library, admin, 'text', { source: 'credit' }),
    };
    await sql`create table written_documents (asset_id uuid)`.execute(db);
    await sql`create function count_document() returns trigger language plpgsql as $$
      begin insert into written_documents values (new.asset_id); return null; end $$`.execute(db);
    await sql`create trigger counted after insert or update on asset_documents
      for each row execute function count_document()`.execute(db);
    const written = async (id: string) => {
      await library.runJobs();
      return (await sql`select from written_documents where asset_id = ${id}`.execute(db)).rows.length;
    };
    const plain = await upload(mara, await tagged({ 'EXIF:ISO': '400' }));
    const described = await upload(
      mara,
      await tagged({
        'XMP-dc:Title': 'Zephyrine',
        'XMP-dc:Description': 'Quixotine',
        'XMP-photoshop:Credit': 'Vexilline',
      }),
    );
    expect(await written(described.id)).toBe((await written(plain.id)) + 1);
    for (const q of ['zephyrine', 'quixotine', 'vexilline'])
      expect((await mara.ok('listAssets', { query: { q } })).items.map(({ id }) => id)).toEqual([
        described.id,
      ]);
    await sql`drop function count_document cascade`.execute(db);
    await unwire(...Object.values(ids));
  });

  // EXTRACT-17
  test('replaces what was read from the previous version of an asset, and nothing else', async () => {
    const ids = {
      headline: await wire(library, admin, 'text', { source: 'title' }),
      story: await wire(library, admin, 'longtext', { source: 'description', mode: 'append' }),
      iso: await wire(library, admin, 'number', { source: 'iso' }),
      city: await wire(library, admin, 'text', { source: 'city' }),
      lens: await wire(library, admin, 'text', { source: 'lens' }),
    };
    const one = {
      'XMP-dc:Title': 'Ebb',
      'IPTC:Caption-Abstract': 'First',
      'EXIF:ISO': '100',
      'XMP-photoshop:City': 'Bergen',
    };
    const other = {
      'XMP-dc:Title': 'Flow',
      'IPTC:Caption-Abstract': 'Second',
      'EXIF:ISO': '200',
      'EXIF:LensModel': '50 mm',
    };
    const asset = await upload(mara, await tagged(one));
    await library.runJobs();
    const field = (field_id: string) => ({ params: { id: asset.id, field_id } });
    await mara.ok('setAssetFieldValue', { ...field(ids.headline), body: { value_text: 'Mine' } });
    await mara.ok('addAssetVersion', { params: { id: asset.id }, body: formOf(await tagged(other)) });
    await library.runJobs();
    const { items } = await mara.ok('listAssetFieldValues', { params: { id: asset.id } });
    const of = (id: string) => items.find(({ field_id }) => field_id === id);
    expect(of(ids.headline)).toMatchObject({ value_text: 'Mine', set_by: 'manual' });
    expect(of(ids.story)).toMatchObject({ value_text: 'Second', set_by: 'iptc' });
    expect(of(ids.iso)).toMatchObject({ value_num: 200, set_by: 'exif' });
    expect(of(ids.lens)).toMatchObject({ value_text: '50 mm' });
    expect(of(ids.city)).toMatchObject({ value_text: 'Bergen' });
    await unwire(...Object.values(ids));
  });

  // EXTRACT-7, EXTRACT-17
  test('replaces the title and description of the previous version, unless people wrote them', async () => {
    const { items: mirrors } = await admin.ok('listFields', {});
    const [title = '', description = ''] = mirrors.map(({ id }) => id);
    await rewire(title, 'title');
    await rewire(description, 'description');
    const tags = (name: string) => tagged({ 'XMP-dc:Title': name, 'XMP-dc:Description': `${name} tide` });
    const titled = await upload(mara, await tags('Low'));
    const plain = await upload(mara, await tagged({ 'EXIF:ISO': '64' }), {}, 'draft.jpg');
    const written = await upload(mara, await tags('Low'), { title: 'Mine', description: 'My own' });
    await library.runJobs();
    for (const { id } of [titled, plain, written])
      await mara.ok('addAssetVersion', { params: { id }, body: formOf(await tags('High'), {}, 'final.jpg') });
    await library.runJobs();
    const of = ({ id }: { id: string }) => mara.ok('getAsset', { params: { id } });
    for (const asset of [titled, plain])
      expect(await of(asset)).toMatchObject({ title: 'High', description: 'High tide' });
    expect(await of(written)).toMatchObject({ title: 'Mine', description: 'My own' });
    await unwire(title, description);
  });

  // EXTRACT-5
  test('reads times without an offset as UTC, and marks other metadata as import', async () => {
    const instant = await wire(library, admin, 'datetime', { source: 'capture_datetime' });
    const length = await wire(library, admin, 'number', { source: 'duration_seconds' });
    const asset = await upload(mara, await tagged({ 'EXIF:DateTimeOriginal': '2024:05:06 07:08:09' }));
    const film = await upload(mara, Uint8Array.from(mp4(12.5)), {}, 'film.mp4');
    await library.runJobs();
    const at = await shownValue(mara, asset, instant);
    expect(Date.parse(at?.value_date ?? '')).toBe(Date.parse('2024-05-06T07:08:09Z'));
    expect(await shownValue(mara, film, length)).toMatchObject({ value_num: 12.5, set_by: 'import' });
    await unwire(instant, length);
  });

  // VALUE-26
  test.each([
    ['', '2024-05-06T23:30:00.000Z', 'Z'],
    ['+09:00', '2024-05-06T23:30:00.000+09:00', '+09:00'],
    ['-07:00', '2024-05-06T23:30:00.000-07:00', '-07:00'],
  ])('keeps the clock time of a photograph with the offset "%s"', async (offset, value, shownOffset) => {
    const taken = await wire(library, admin, 'datetime', { source: 'capture_datetime', show_on_card: true });
    const { code } = await admin.ok('getField', { params: { id: taken } });
    const tags = { 'EXIF:DateTimeOriginal': '2024:05:06 23:30:00' };
    const asset = await upload(
      mara,
      await tagged(offset === '' ? tags : { ...tags, 'EXIF:OffsetTimeOriginal': offset }),
    );
    await library.runJobs();
    const clock = expect.stringMatching(/^2024-05-06T23:30:00(?:\.000)?/);
    const shown = await shownValue(mara, asset, taken);
    expect(shown).toMatchObject({ value_date: clock });
    expect(Date.parse(shown?.value_date ?? '')).toBe(Date.parse(value));
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
      card_fields: expect.arrayContaining([
        expect.objectContaining({ code, value: `2024-05-06T23:30:00${shownOffset}` }),
      ]),
    });
    const found = async (condition: string) => {
      const query = { filter: [`field:${code}${condition}`] };
      return (await mara.ok('listAssets', { query })).items.map(({ id }) => id);
    };
    expect(await found('=2024-05-06')).toContain(asset.id);
    expect(await found('=2024-05-07')).not.toContain(asset.id);
    expect(await found(`=${value}`)).toContain(asset.id);
    await unwire(taken);
  });

  // EXTRACT-3, VALUE-20
  test('replaces what was imported or is a default, and nothing that people wrote or removed', async () => {
    const default_value = { kind: 'literal', value_text: 'default' };
    const id = await wire(library, admin, 'text', { source: 'title', mode: 'replace', default_value });
    const assets = await Promise.all([1, 2, 3, 4].map(async () => upload(mara, await ridge())));
    const [byHand = '', byScript = '', removed = '', untouched = ''] = assets.map((asset) => asset.id);
    const script = await bearer(library, mara, ['assets.write']);
    for (const [as, asset, value_text] of [
      [mara, byHand, 'by hand'],
      [script, byScript, 'by script'],
    ] as const)
      await as.ok('setAssetFieldValue', { params: { id: asset, field_id: id }, body: { value_text } });
    const params = { id: removed, field_id: id };
    await mara.ok('clearAssetFieldValue', { params, body: undefined });
    const bare = (await upload(mara, await tagged({}))).id;
    await library.runJobs();
    const storedValue = async (asset: string) => (await shownValue(mara, { id: asset }, id))?.value_text;
    expect(await Promise.all([byHand, byScript, removed, untouched, bare].map(storedValue))).toEqual([
      'by hand',
      'by script',
      undefined,
      'Ridge',
      'default',
    ]);
    // Appending once more changes nothing.
    await rewire(id, 'title', 'append');
    const imported = (await upload(mara, await ridge())).id;
    await db.deleteFrom('asset_field_values').where('asset_id', '=', imported).execute();
    await store(library, imported, id, { value_text: 'before' });
    for (let time = 0; time < 2; time += 1) {
      await library.runJobs();
      expect(await storedValue(imported)).toBe('before; Ridge');
      await admin.ok('startBackfill', { body: { field_id: id } });
    }
    await library.runJobs();
    await unwire(id);
  });
});

// FIELD-39
test('a change of the wiring applies to the next job, also in other processes', async () => {
  const id = await define(library, 'text');
  const other = await openDeps(db, storage, library.config, log);
  const work = { pool: library.database.pool, handlers: jobHandlers(other), concurrency: 1, log };
  const uploadWith = async (source: string) => {
    const bytes = await tagged({ 'XMP-dc:Title': 'Ridge', 'XMP-photoshop:City': 'Bergen' });
    const asset = await upload(mara, bytes);
    await rewire(id, source);
    await runDueJobs(work);
    return { asset, value: (await shownValue(mara, asset, id))?.value_text };
  };
  expect((await uploadWith('title')).value).toBe('Ridge');
  expect((await uploadWith('city')).value).toBe('Bergen');
  const { asset, value } = await uploadWith('');
  expect(value).toBeUndefined();
  // After wiring it again, a pass fills it.
  await rewire(id, 'title');
  await admin.ok('startBackfill', { body: { field_id: id } });
  await runDueJobs(work);
  expect((await shownValue(mara, asset, id))?.value_text).toBe('Ridge');
  await other.metadata.close();
});
