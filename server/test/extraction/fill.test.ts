import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobHandlers } from '../../src/jobs.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { openDeps } from '../../src/service.ts';
import { define } from '../fields/values/fields.ts';
import { mp4, stopTagging } from '../media/tagged-files.ts';
import { arrive, bearer } from '../posts/people.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { shownValue, tagged, wire } from './files.ts';

let library: Library;
let admin: Account;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  admin = await arrive(library, 'admin', 'admin');
  mara = await arrive(library, 'mara');
});
afterAll(stopTagging);

async function uploadTagged(tags: Readonly<Record<string, string | readonly string[]>>, fields = {}) {
  const asset = await upload(mara, await tagged(tags), fields);
  await library.runJobs();
  return asset;
}

async function unwire(...ids: string[]) {
  for (const id of ids) await admin.ok('setFieldExtraction', { params: { id }, body: { source: '' } });
}

// EXTRACT-2
describe('a job fills the wired fields of a new asset', () => {
  // EXTRACT-2, VALUE-6
  test('converts the value to the type of the field, and names its source', async () => {
    const ids = {
      headline: await wire(library, admin, 'text', { source: 'title' }),
      story: await wire(library, admin, 'longtext', { source: 'description' }),
      rich: await wire(library, admin, 'rich_text', { source: 'copyright' }),
      shutter: await wire(library, admin, 'text', { source: 'exposure_time' }),
      seconds: await wire(library, admin, 'number', { source: 'exposure_time' }),
      iso: await wire(library, admin, 'number', { source: 'iso' }),
      day: await wire(library, admin, 'date', { source: 'capture_datetime' }),
      instant: await wire(library, admin, 'datetime', { source: 'capture_datetime' }),
      words: await wire(library, admin, 'multi_select', { source: 'keywords', open_vocabulary: true }),
      city: await wire(library, admin, 'select', {
        source: 'city',
        terms: [{ value: 'bergen', label: 'Bergen', aliases: ['bjørgvin'] }],
      }),
      linked: await wire(library, admin, 'reference', { source: 'title' }),
      unfit: await wire(library, admin, 'number', { source: 'title' }),
    };
    const asset = await uploadTagged({
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
    expect(of(ids.linked)).toBeUndefined();
    // A number field reads `007` as 7.
    expect(of(ids.unfit)).toMatchObject({ value_num: 7 });
    // EXTRACT-12: keywords fill fields only.
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({ tags: [] });
    await unwire(...Object.values(ids));
  });

  // EXTRACT-5
  test('reads times without an offset as UTC, and marks other metadata as import', async () => {
    const instant = await wire(library, admin, 'datetime', { source: 'capture_datetime' });
    const length = await wire(library, admin, 'number', { source: 'duration_seconds' });
    const asset = await uploadTagged({ 'EXIF:DateTimeOriginal': '2024:05:06 07:08:09' });
    const film = await upload(mara, Uint8Array.from(mp4(12.5)), {}, 'film.mp4');
    await library.runJobs();
    const at = await shownValue(mara, asset, instant);
    expect(Date.parse(at?.value_date ?? '')).toBe(Date.parse('2024-05-06T07:08:09Z'));
    expect(await shownValue(mara, film, length)).toMatchObject({ value_num: 12.5, set_by: 'import' });
    await unwire(instant, length);
  });

  // EXTRACT-2
  test('fills only active asset fields that apply to the asset', async () => {
    const films = await wire(library, admin, 'text', { source: 'title', applies_to: [3] });
    const pictures = await wire(library, admin, 'text', { source: 'title', applies_to: [1, 3] });
    const old = await wire(library, admin, 'text', { source: 'title', status: 'deprecated' });
    const asset = await uploadTagged({ 'XMP-dc:Title': 'Ridge' });
    expect(await shownValue(mara, asset, films)).toBeUndefined();
    expect(await shownValue(mara, asset, pictures)).toMatchObject({ value_text: 'Ridge' });
    expect(await shownValue(mara, asset, old)).toBeUndefined();
    await unwire(films, pictures, old);
  });

  // EXTRACT-6, FIELD-16, FIELD-21
  test('ignores read_only and patterns', async () => {
    const id = await wire(library, admin, 'text', {
      source: 'title',
      read_only: true,
      regexp_filter: '[0-9]+',
    });
    const asset = await uploadTagged({ 'XMP-dc:Title': 'Ridge' });
    expect(await shownValue(mara, asset, id)).toMatchObject({ value_text: 'Ridge' });
    await unwire(id);
  });

  // EXTRACT-7
  test('fills a mirrored column until a caller writes it', async () => {
    const { items } = await admin.ok('listFields', {});
    const mirrors = items.filter(({ mirrors_column }) => mirrors_column !== null).map(({ id }) => id);
    const [title = '', description = ''] = mirrors;
    await admin.ok('setFieldExtraction', { params: { id: title }, body: { source: 'title' } });
    await admin.ok('setFieldExtraction', { params: { id: description }, body: { source: 'description' } });
    const tags = { 'XMP-dc:Title': 'Ridge', 'XMP-dc:Description': 'Four mornings' };
    const named = await uploadTagged(tags, { title: 'Mine' });
    const bare = await uploadTagged(tags);
    expect(await mara.ok('getAsset', { params: { id: named.id } })).toMatchObject({
      title: 'Mine',
      description: 'Four mornings',
    });
    expect(await mara.ok('getAsset', { params: { id: bare.id } })).toMatchObject({ title: 'Ridge' });
    await unwire(title, description);
  });

  // ASSET-33
  test('keeps the metadata that a client sends with an asset', async () => {
    const id = await wire(library, admin, 'text', { source: 'title' });
    const asset = await uploadTagged({ 'XMP-dc:Title': 'Ridge' }, { metadata: '{"title":"theirs"}' });
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
      metadata: { title: 'theirs' },
    });
    await unwire(id);
  });

  // EXTRACT-8
  test('fills another asset with the same bytes without reading the file again', async () => {
    const id = await wire(library, admin, 'text', { source: 'title' });
    const bytes = await tagged({ 'XMP-dc:Title': 'Ridge' });
    const first = await upload(mara, bytes);
    await library.runJobs();
    const read = () =>
      library.deps.db
        .selectFrom('file_metadata')
        .select('extracted_at')
        .where('hash', '=', first.file_hash ?? '')
        .executeTakeFirstOrThrow();
    const before = await read();
    const other = await arrive(library, 'other');
    const second = await upload(other, bytes);
    await library.runJobs();
    expect(await shownValue(other, second, id)).toMatchObject({ value_text: 'Ridge', set_by: 'xmp' });
    expect(await read()).toEqual(before);
    await unwire(id);
  });

  // EXTRACT-8
  test('reads no file while no field is wired', async () => {
    const asset = await uploadTagged({ 'XMP-dc:Title': 'Ridge' });
    const rows = await library.deps.db
      .selectFrom('file_metadata')
      .select('hash')
      .where('hash', '=', asset.file_hash ?? '')
      .execute();
    expect(rows).toEqual([]);
  });
});

// VALUE-20
describe('prefers values of callers, then of the file, then defaults', () => {
  test.each(['skip_if_set', 'replace', 'append', 'prepend'] as const)(
    '%s leaves what people wrote, with a session or a token',
    async (mode) => {
      const id = await define(library, 'text');
      const asset = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
      const scripted = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
      const token = await bearer(library, mara, ['assets.write', 'read']);
      await mara.ok('setAssetFieldValue', {
        params: { id: asset.id, field_id: id },
        body: { value_text: 'by hand' },
      });
      await token.ok('setAssetFieldValue', {
        params: { id: scripted.id, field_id: id },
        body: { value_text: 'by script' },
      });
      await admin.ok('setFieldExtraction', { params: { id }, body: { source: 'title', mode } });
      await library.runJobs();
      expect(await shownValue(mara, asset, id)).toMatchObject({ value_text: 'by hand', set_by: 'manual' });
      expect(await shownValue(mara, scripted, id)).toMatchObject({ value_text: 'by script', set_by: 'api' });
      await unwire(id);
    },
  );

  test.each(['skip_if_set', 'replace', 'append', 'prepend'] as const)(
    '%s lets a default give way to the file',
    async (mode) => {
      const id = await define(library, 'text', {
        default_value: { kind: 'literal', value_text: 'default' },
      });
      await admin.ok('setFieldExtraction', { params: { id }, body: { source: 'title', mode } });
      const bytes = await tagged({ 'XMP-dc:Title': 'Ridge' });
      const asset = await upload(mara, bytes);
      const bare = await upload(mara, await tagged({}));
      expect(await shownValue(mara, asset, id)).toMatchObject({ value_text: 'default', set_by: 'default' });
      await library.runJobs();
      expect(await shownValue(mara, asset, id)).toMatchObject({ value_text: 'Ridge', set_by: 'xmp' });
      expect(await shownValue(mara, bare, id)).toMatchObject({ value_text: 'default', set_by: 'default' });
      await unwire(id);
    },
  );

  test.each([
    ['skip_if_set', 'before'],
    ['replace', 'Ridge'],
    ['append', 'before; Ridge'],
    ['prepend', 'Ridge; before'],
  ] as const)('over what was imported before, %s makes %s, and does it once', async (mode, expected) => {
    const id = await define(library, 'text');
    await admin.ok('setFieldExtraction', { params: { id }, body: { source: 'title', mode } });
    const asset = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
    await library.deps.db
      .insertInto('asset_field_values')
      .values({ asset_id: asset.id, field_id: id, value_text: 'before', set_by: 'import' })
      .execute();
    await library.runJobs();
    expect((await shownValue(mara, asset, id))?.value_text).toBe(expected);
    await admin.ok('startBackfill', { body: { field_id: id } });
    await library.runJobs();
    expect((await shownValue(mara, asset, id))?.value_text).toBe(expected);
    await unwire(id);
  });

  // VALUE-20
  test('does not restore a value that a caller removed', async () => {
    const id = await wire(library, admin, 'text', { source: 'title', mode: 'replace' });
    const asset = await uploadTagged({ 'XMP-dc:Title': 'Ridge' });
    await mara.ok('clearAssetFieldValue', { params: { id: asset.id, field_id: id }, body: undefined });
    await admin.ok('startBackfill', { body: { field_id: id } });
    await library.runJobs();
    expect(await shownValue(mara, asset, id)).toBeUndefined();
    await unwire(id);
  });
});

// FIELD-39
describe('applies a change of the wiring to the next job', () => {
  // FIELD-39
  test('applies a change of the wiring in other processes', async () => {
    const id = await wire(library, admin, 'text', { source: 'title' });
    const { db, storage } = library.deps;
    const other = await openDeps(db, storage, library.config, library.deps.log);
    const workElsewhere = () =>
      runDueJobs({
        pool: library.database.pool,
        handlers: jobHandlers(other),
        concurrency: 1,
        log: library.deps.log,
      });
    const tags = { 'XMP-dc:Title': 'Ridge', 'XMP-photoshop:City': 'Bergen' };
    const first = await upload(mara, await tagged(tags));
    await workElsewhere();
    expect(await shownValue(mara, first, id)).toMatchObject({ value_text: 'Ridge' });
    const waiting = await upload(mara, await tagged(tags));
    await admin.ok('setFieldExtraction', { params: { id }, body: { source: 'city' } });
    await workElsewhere();
    expect(await shownValue(mara, waiting, id)).toMatchObject({ value_text: 'Bergen' });
    await unwire(id);
    const last = await upload(mara, await tagged(tags));
    await workElsewhere();
    expect(await shownValue(mara, last, id)).toBeUndefined();
    // After wiring it again, a pass fills it.
    await admin.ok('setFieldExtraction', { params: { id }, body: { source: 'title' } });
    await admin.ok('startBackfill', { body: { field_id: id } });
    await workElsewhere();
    expect(await shownValue(mara, last, id)).toMatchObject({ value_text: 'Ridge' });
    expect(await shownValue(mara, waiting, id)).toMatchObject({ value_text: 'Bergen' });
    await other.metadata.close();
    await unwire(id);
  });
});
