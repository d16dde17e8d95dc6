import { readFile, truncate } from 'node:fs/promises';
import type { SubtitleTrack } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { purge } from '../../src/content/trash/jobs/purge.ts';
import { checkBytes } from '../../src/operate/doctor/bytes.ts';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { subtitlesKey } from '../../src/platform/storage/object-key.ts';
import { pdf } from '../media/documents.ts';
import { stl } from '../media/models.ts';
import { flac, font, mp4 } from '../media/tagged-files.ts';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, unknownBytes } from '../support/pictures.ts';

let seed = 0;

const library = await openLibrary();
const [mara, other] = await library.joinAll('mara', 'other');
const { db, storage } = library.deps;

const srt = (text: string) => `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`;

function movie(as: Visitor = mara, name = 'movie.mp4', fields: Record<string, string> = {}) {
  seed += 1;
  return upload(as, Uint8Array.from(mp4(seed)), fields, name);
}

function form(content: string | Uint8Array<ArrayBuffer>, label?: string): FormData {
  const made = new FormData();
  made.append('file', new Blob([content]), 'subtitles');
  if (label !== undefined) made.append('label', label);
  return made;
}

async function put(as: Visitor, { id }: { id: string }, lang: string, body: unknown) {
  const { status, text } = await as.send(`/assets/${id}/subtitles/${lang}`, { method: 'PUT', body });
  return { status, body: JSON.parse(text) };
}

const read = (as: Visitor, { id }: { id: string }, lang: string) =>
  as.send(`/assets/${id}/subtitles/${lang}`);

async function tracksOf({ id }: { id: string }): Promise<SubtitleTrack[]> {
  const asset = await mara.ok('getAsset', { params: { id } });
  return asset.restricted ? [] : asset.subtitle_tracks;
}

const storedSubtitles = () => Array.fromAsync(storage.list('subtitles'), ({ key }) => key.slice(-64));

// QUOTA-1
test('identical subtitles share a file, which counts once, and is named with its assets if it is damaged', {
  tags: ['disk'],
}, async () => {
  const root = await library.join('root', 'admin');
  const asset = await movie();
  for (const lang of ['en', 'de'])
    expect((await put(mara, asset, lang, form(srt('Hello')))).status).toBe(201);
  const rows = db.selectFrom('subtitles').select(['file_hash', 'size_bytes']);
  const { file_hash, size_bytes: bytes } = await rows.executeTakeFirstOrThrow();
  await root.ok('countStorage');
  await library.runJobs();
  expect((await root.ok('getStorage')).counted?.subtitles).toEqual({ count: 1, bytes });

  const { used_bytes } = await mara.ok('getOwnQuota');
  expect(used_bytes).toBe((asset.file_size_bytes ?? 0) + bytes);
  expect((await root.ok('getQuotas')).used_bytes).toBe(used_bytes);
  const limit = (person_bytes: number | null) =>
    root.ok('setQuotas', { body: { person_bytes, install_bytes: null } });
  await limit(used_bytes);
  expect((await put(mara, asset, 'fr', form(srt('Bonjour')))).status).toBe(413);
  await limit(null);
  expect((await put(mara, asset, 'fr', form(srt('Bonjour')))).status).toBe(201);

  const lines: string[] = [];
  const signal = new AbortController().signal;
  const print = (line: string) => lines.push(line);
  const check = () =>
    checkBytes(library.deps, { after: '', repair: false, language: 'en', signal, print, progress: () => {} });
  expect([(await check()).lost, lines]).toEqual([0, []]);
  await truncate(objectPath(library, subtitlesKey(file_hash)), 3);
  expect((await check()).lost).toBe(1);
  expect(lines).toEqual([
    `LOST      ${subtitlesKey(file_hash)}: has 3 of ${bytes} bytes`,
    `  subtitles of asset ${asset.id} (de)`,
    `  subtitles of asset ${asset.id} (en)`,
  ]);
});

describe('PUT, GET and DELETE /assets/{id}/subtitles/{lang}', () => {
  // SUBTITLE-1
  test('answers a new language with 201, a replacement with 200, and lists the tracks of the asset', async () => {
    const asset = await movie();
    const first = await put(mara, asset, 'de', form(srt('Hallo & <i>Welt</i>'), 'Deutsch'));
    expect(first).toEqual({
      status: 201,
      body: {
        lang: 'de',
        label: 'Deutsch',
        source_format: 'srt',
        confidence: 1,
        file_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    const served = await read(other, asset, 'de');
    expect(served.text).toBe('WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHallo &amp; <i>Welt</i>\n');
    expect(served.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    expect(served.headers.get('etag')).toBe(`"${first.body.file_hash}"`);

    await put(mara, asset, 'en', form(srt('Hello')));
    const again = await put(mara, asset, 'DE', form(srt('Guten Tag')));
    expect([again.status, again.body.lang, again.body.label]).toEqual([200, 'de', '']);
    expect((await read(mara, asset, 'de')).text).toContain('Guten Tag');
    const due = ['de', 'en'];
    expect((await tracksOf(asset)).map(({ lang }) => lang)).toEqual(due);
    const { items } = await mara.ok('listAssets', { query: { owner_ref: mara.ref, limit: 1 } });
    const [listed] = items;
    expect(listed?.restricted === false && listed.subtitle_tracks.map(({ lang }) => lang)).toEqual(due);

    const { status } = await mara.send(`/assets/${asset.id}/subtitles/de`, { method: 'DELETE' });
    expect(status).toBe(204);
    expect((await read(mara, asset, 'de')).status).toBe(404);
    expect((await tracksOf(asset)).map(({ lang }) => lang)).toEqual(['en']);
    await mara.refused('deleteSubtitles', { params: { id: asset.id, lang: 'de' } });
  });

  // ASSET-40, AUDIT-1
  test('are in the history of the file, and in the audit log when they are of somebody else', async () => {
    const { id } = await movie();
    const keeper = await library.join('keeper', 'admin');
    await put(keeper, { id }, 'de', form(srt('Hallo')));
    await put(mara, { id }, 'de', form(srt('Guten Tag')));
    await keeper.ok('deleteSubtitles', { params: { id, lang: 'de' } });
    const { items } = await mara.ok('listAssetHistory', { params: { id }, query: {} });
    const edits = items.flatMap(({ who, properties }) => (properties === undefined ? [] : [who?.ref]));
    expect(edits).toEqual([keeper.ref, mara.ref, keeper.ref]);
    expect(await auditEvents(library, { target_id: id })).toMatchObject(
      [1, 2].map(() => ({ event: 'asset.updated', metadata: { changed: ['subtitle_tracks'] } })),
    );
  });

  // SUBTITLE-2
  test('accepts BCP 47 tags and und, in canonical form, and refuses others with 400', async () => {
    const asset = await movie();
    for (const [given, due] of [
      ['und', 'und'],
      ['PT-br', 'pt-BR'],
      ['zh-hans-cn', 'zh-Hans-CN'],
    ] as const) {
      expect((await put(mara, asset, given, form(srt('x')))).body).toMatchObject({ lang: due });
      expect((await read(mara, asset, given)).status).toBe(200);
    }
    for (const lang of ['pt_BR', 'x', 'a-very-wrong-language-tag', 'de%00', 'de%2Fen']) {
      expect([lang, (await put(mara, asset, lang, form(srt('x')))).status]).toEqual([lang, 400]);
      expect([lang, (await read(mara, asset, lang)).status]).toEqual([lang, 400]);
    }
  });

  // SUBTITLE-8
  test('refuses other files with 400 and JSON with 415, and stores nothing', async () => {
    const asset = await movie();
    await library.runJobs();
    await sweep(library.deps, Date.now() + 1000, 0);
    const before = await storedSubtitles();
    for (const body of [
      form('no subtitles'),
      form(new Uint8Array(0)),
      form(Uint8Array.from({ length: 3000 }, (_, i) => (i * 31) % 256)),
      form(srt('x'), 'a\0b'),
      form(srt('x'), 'x'.repeat(201)),
      new FormData(),
    ])
      expect((await put(mara, asset, 'de', body)).status).toBe(400);
    expect((await put(mara, asset, 'de', { label: 'x' })).status).toBe(415);
    expect(await tracksOf(asset)).toEqual([]);
    expect(await storedSubtitles()).toEqual(before);
    // Files in `incoming` would be swept.
    expect(await sweep(library.deps, Date.now() + 1000, 0)).toBe(0);
  });

  // SUBTITLE-5
  test('lists image-based subtitles without a track to play', async () => {
    const asset = await movie();
    const vobsub = Uint8Array.from([0, 0, 1, 0xba, 0x44, 0, 4, 0, 4, 1]);
    const { status, body } = await put(mara, asset, 'en', form(vobsub));
    expect([status, body.source_format, body.confidence]).toEqual([201, 'vobsub', 0]);
    expect(await tracksOf(asset)).toEqual([body]);
    expect((await read(mara, asset, 'en')).status).toBe(404);
    expect(await storedSubtitles()).toContain(body.file_hash);
  });

  // SUBTITLE-3
  test('lets the owner write, and readers read', async () => {
    const open = await movie();
    const secret = await movie(mara, 'secret.mp4', { status: 'draft' });
    for (const asset of [open, secret]) await put(mara, asset, 'de', form(srt('secret words')));
    for (const [asset, writes, reads] of [
      [open, 403, 200],
      [secret, 404, 404],
    ] as const) {
      expect((await put(other, asset, 'de', form(srt('mine now')))).status).toBe(writes);
      expect((await read(other, asset, 'de')).status).toBe(reads);
    }
  });
});

describe('stored subtitles', () => {
  // SUBTITLE-7
  test('are removed when no asset has them after a replacement or a purge', async () => {
    const [one, two] = [await movie(), await movie()];
    // Runs only the jobs that release bytes, because rendering the movies takes seconds.
    await sql`delete from graphile_worker._private_jobs`.execute(db);
    const { body } = await put(mara, one, 'de', form(srt('shared words')));
    await put(mara, two, 'de', form(srt('shared words')));
    await put(mara, one, 'de', form(srt('other words')));
    await library.runJobs();
    expect(await storedSubtitles()).toContain(body.file_hash);

    await mara.ok('deleteAsset', { params: { id: two.id }, body: undefined });
    await sql`update assets set deleted_at = now() - interval '1 year' where id = ${two.id}`.execute(db);
    expect((await purge(db)).assets).toBe(1);
    await library.runJobs();
    expect(await storedSubtitles()).not.toContain(body.file_hash);
  });

  test('are swept when no row refers to them', async () => {
    const asset = await movie();
    const { body } = await put(mara, asset, 'de', form(srt('kept words')));
    const lost = await put(mara, asset, 'en', form(srt('lost words')));
    await sql`delete from subtitles where file_hash = ${lost.body.file_hash}`.execute(db);
    await sweep(library.deps, Date.now() + 1000, 0);
    const stored = await storedSubtitles();
    expect([stored.includes(body.file_hash), stored.includes(lost.body.file_hash)]).toEqual([true, false]);
  });
});

// SUBTITLE-6
test('an uploaded sidecar becomes a track of the owner’s video of the same name of the last day, if it has subtitles', async () => {
  const asset = await movie(mara, 'Holiday 2026.mp4');
  const foreign = await movie(other, 'Holiday 2026.mp4');
  const old = await movie(mara, 'old.mp4');
  await sql`update assets set created_at = now() - interval '2 days' where id = ${old.id}`.execute(db);
  const sidecar = (name: string, text: string) => upload(mara, plainText(text), {}, name);
  const files = [
    await sidecar('holiday 2026.de.srt', srt('Am Meer')),
    await sidecar('Holiday 2026.srt', srt('By the sea')),
    await sidecar('Holiday 2026.fr.srt', 'no subtitles'),
    await sidecar('another.de.srt', srt('x')),
    await sidecar('old.de.srt', srt('x')),
  ];
  expect((await tracksOf(asset)).map(({ lang }) => lang)).toEqual(['de', 'und']);
  expect((await read(mara, asset, 'de')).text).toContain('Am Meer');
  // The others are ordinary files.
  expect(files.map(({ restricted }) => restricted)).toEqual([false, false, false, false, false]);
  expect([await tracksOf(foreign), await tracksOf(old)]).toEqual([[], []]);
});

// SUBTITLE-9
test('subtitles inside a film are tracks of every asset of the same bytes, until they are replaced', async () => {
  const bytes = Uint8Array.from(await readFile(new URL('../media/files/subtitles.mkv', import.meta.url)));
  const film = await upload(mara, bytes, {}, 'film.mkv');
  await put(mara, film, 'de', form(srt('Känguru')));
  await library.runJobs();
  expect((await tracksOf(film)).map(({ lang, source_format }) => [lang, source_format])).toEqual([
    ['de', 'srt'],
    ['en', 'srt'],
  ]);
  expect((await read(mara, film, 'en')).text).toContain('Embedded wallaby');

  await put(mara, film, 'en', form(srt('My wallaby')));
  const copy = await upload(mara, bytes, {}, 'copy.mkv');
  expect((await tracksOf(copy)).map(({ lang }) => lang)).toEqual([]);
  const { id } = film;
  await mara.ok('deleteSubtitles', { params: { id, lang: 'en' } });
  await sql`update files set renditions = '{}' where hash = ${film.file_hash}`.execute(db);
  await mara.ok('reprocessAsset', { params: { id } });
  await library.runJobs();
  expect((await tracksOf(copy)).map(({ lang }) => lang)).toEqual(['en']);
  const third = await upload(mara, bytes, {}, 'third.mkv');
  expect((await tracksOf(third)).map(({ lang }) => lang)).toEqual(['en']);
  expect((await read(mara, third, 'en')).text).toContain('Embedded wallaby');
});

// SUBTITLE-11
describe('subtitles', () => {
  test.each([
    ['picture', 'image/jpeg', () => jpeg(32, 32)],
    ['document', 'application/pdf', async () => pdf(['A page'])],
    ['text', 'text/plain', async () => plainText()],
    ['font', 'font/ttf', async () => Uint8Array.from(font('ttf', { 1: 'Plain' }))],
    ['model', 'model/stl', async () => stl()],
    ['file of an unknown kind', 'application/octet-stream', async () => unknownBytes()],
  ])('sent for a %s return 409, and nothing is stored', async (_, mime, bytes) => {
    const asset = await upload(mara, await bytes());
    const { rows } = await sql`select mime from files where hash = ${asset.file_hash}`.execute(db);
    expect(rows).toEqual([{ mime }]);
    const stored = await storedSubtitles();
    expect(await put(mara, asset, 'en', form(srt('Hello')))).toEqual({
      status: 409,
      body: { error: 'only video and audio can have subtitles' },
    });
    expect([await tracksOf(asset), await storedSubtitles()]).toEqual([[], stored]);
  });

  test('sent for a recording are stored', async () => {
    const asset = await upload(mara, Uint8Array.from(flac(1, [])), {}, 'voice.flac');
    expect((await put(mara, asset, 'en', form(srt('Hello')))).status).toBe(201);
  });
});
