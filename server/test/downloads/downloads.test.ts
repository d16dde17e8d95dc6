import { Readable } from 'node:stream';
import type { DownloadPreset } from '@vitrine/contract/downloads';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { onceRecorded } from '../../src/content/assets/send.ts';
import { openConversions } from '../../src/content/downloads/conversions.ts';
import { beginsDownload } from '../../src/content/downloads/record.ts';
import { clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { formOf, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainFile, sha256 } from '../support/pictures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [mara, ann] = await library.joinAll('mara', 'ann');

const presets: DownloadPreset[] = [
  { key: 'small', label: 'Small', format: 'jpeg', max_dim: 200, quality: 70, metadata: 'strip' },
  { key: 'web', label: 'For the web', format: 'webp', max_dim: 16_384 },
  { key: 'print', label: 'Print', format: 'tiff', metadata: 'rights' },
  { key: 'avif', label: 'AVIF', format: 'avif', max_dim: 100 },
  { key: 'png', label: 'PNG', format: 'png', max_dim: 100 },
  { key: 'named', label: 'With fields', format: 'jpeg', max_dim: 100, metadata: 'fields' },
  { key: 'bare', label: 'Original, bare', format: 'original', metadata: 'strip' },
  { key: 'original', label: 'Original', format: 'original' },
  { key: 'film', label: 'Film', format: 'mp4' },
  { key: 'pdf', label: 'PDF', format: 'pdf' },
  { key: 'bare-film', label: 'Film, bare', format: 'mp4', metadata: 'strip' },
  { key: 'bare-pdf', label: 'PDF, bare', format: 'pdf', metadata: 'strip' },
  { key: 'admins', label: 'For administrators', format: 'png', capability: 'system.admin' },
];

const put = (body: unknown, who = root) => who.status('PUT', '/admin/system/downloads', body);

/** Downloads an asset in the form of a preset. */
async function fetchForm(id: string, preset: string, who = mara, headers: Record<string, string> = {}) {
  const answer = await fetch(`${library.address}/api/v1/assets/${id}/file?preset=${preset}`, {
    headers: { cookie: `user=${who.cookie() ?? ''}`, ...headers },
  });
  return {
    status: answer.status,
    headers: answer.headers,
    bytes: Buffer.from(await answer.arrayBuffer()),
  };
}

let picture: Awaited<ReturnType<typeof upload>>;

beforeAll(async () => {
  const bytes = await sharp(await jpeg(600, 400, { seed: 3 }))
    .withExif({ IFD0: { Copyright: 'Mara', Make: 'Camera maker' } })
    .toBuffer();
  picture = await upload(
    mara,
    bytes,
    { title: 'Harbour wall', sensitivity: 'org', tags: 'quay' },
    'wall.jpg',
  );
  await library.runJobs();
  expect(await put({ presets })).toBe(200);
});

describe('presets', () => {
  // DOWNLOAD-1
  test('are configured by administrators, and refused if they are not valid', async () => {
    expect(await root.ok('getDownloadSettings')).toEqual({ presets });
    const one = { key: 'x', label: 'X', format: 'jpeg' };
    for (const bad of [
      { ...one, max_dim: 100_000 },
      { ...one, max_dim: 0 },
      { ...one, quality: 101 },
      { ...one, key: 'No' },
      { ...one, key: 'x'.repeat(41) },
      { ...one, format: 'bmp' },
      { ...one, capability: 'nothing' },
      { ...one, label: '' },
    ])
      expect([bad, await put({ presets: [bad] })]).toEqual([bad, 400]);
    expect(await put({ presets: [one, one] })).toBe(400);
    expect(await put({ presets }, mara)).toBe(403);
    expect(await mara.status('GET', '/admin/system/downloads')).toBe(403);
    expect(await root.ok('getDownloadSettings')).toEqual({ presets });
  });

  // DOWNLOAD-2
  test('are listed for those who have their capability, and 404 for others', async () => {
    expect(await root.ok('listDownloads')).toEqual({ presets });
    const { presets: hers } = await mara.ok('listDownloads');
    expect(hers.map(({ key }) => key)).toEqual(presets.slice(0, -1).map(({ key }) => key));
    for (const key of ['admins', 'nothing', 'NOT A KEY'])
      expect((await fetchForm(picture.id, key)).status).toBe(404);
    expect((await fetchForm(picture.id, 'admins', root)).status).toBe(200);
  });
});

describe('GET /assets/{id}/file?preset=', () => {
  // DOWNLOAD-3
  test.each([
    ['small', 'image/jpeg', 'wall.jpg', 'jpeg', 200],
    ['web', 'image/webp', 'wall.webp', 'webp', 600],
    ['print', 'image/tiff', 'wall.tiff', 'tiff', 600],
    ['avif', 'image/avif', 'wall.avif', 'heif', 100],
    ['png', 'image/png', 'wall.png', 'png', 100],
    ['bare', 'image/jpeg', 'wall.jpg', 'jpeg', 600],
  ])('sends a picture as %s', async (key, type, name, format, width) => {
    const { status, headers, bytes } = await fetchForm(picture.id, key);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('content-disposition')).toContain(`attachment; filename="${name}"`);
    expect(await sharp(bytes).metadata()).toMatchObject({ format, width });
    const again = await fetchForm(picture.id, key, mara, { 'if-none-match': headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    const part = await fetchForm(picture.id, key, mara, { range: 'bytes=0-9' });
    expect([part.status, part.bytes.equals(bytes.subarray(0, 10))]).toEqual([206, true]);
  });

  // DOWNLOAD-3, VERSION-3
  test('names an earlier version after its own file', async () => {
    const asset = await upload(mara, await jpeg(40, 30, { seed: 41 }), {}, 'draft.jpg');
    const body = formOf(await jpeg(40, 30, { seed: 42 }), {}, 'final.jpeg');
    await mara.ok('addAssetVersion', { params: { id: asset.id }, body });
    const named = async (preset: string) =>
      (await fetchForm(asset.id, `${preset}&version=1`)).headers.get('content-disposition');
    expect(await named('original')).toContain('filename="draft.jpg"');
    expect(await named('png')).toContain('filename="draft.png"');
  });

  // DOWNLOAD-3
  test('sends a film as MP4 and a PDF as it is', async () => {
    const video = { source: 'testsrc2=s=160x90:r=25', encoder: 'libvpx', options: { deadline: 'realtime' } };
    const film = await clip({ format: 'webm', video, seconds: 0.4 });
    const report = pdf(['One']);
    const fields = { sensitivity: 'org' };
    const [{ id }, document] = [
      await upload(mara, film, fields, 'tide.webm'),
      await upload(mara, report, fields, 'report.pdf'),
    ];
    expect((await fetchForm(id, 'film')).status).toBe(409);
    await library.runJobs();
    const sent = await fetchForm(id, 'film');
    expect([sent.status, sent.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(sent.headers.get('content-disposition')).toContain('filename="tide.mp4"');
    expect(sent.bytes.subarray(4, 8).toString()).toBe('ftyp');
    expect((await fetchForm(document.id, 'pdf')).bytes.equals(Buffer.from(report))).toBe(true);
    expect((await fetchForm(document.id, 'film')).status).toBe(409);
  });

  // DOWNLOAD-4
  test('does not send the metadata of films and PDFs with a preset that removes it', async () => {
    const fields = { sensitivity: 'org' };
    const film = await clip({
      format: 'mp4',
      video: { source: 'testsrc2=s=160x90:r=25', encoder: 'libx264' },
      seconds: 0.4,
    });
    const [{ id }, document] = [
      await upload(mara, film, fields, 'tide.mp4'),
      await upload(mara, pdf(['Two']), fields, 'report.pdf'),
    ];
    const statuses = async (key: string, one: string) => (await fetchForm(one, key)).status;
    expect(await Promise.all(['film', 'bare-film'].map((key) => statuses(key, id)))).toEqual([200, 409]);
    expect(await statuses('bare-pdf', document.id)).toBe(409);
  });

  test('has another ETag for each preset, and sends the original unchanged', async () => {
    const keys = ['small', 'web', 'print', 'original', 'bare'];
    const etags = await Promise.all(
      keys.map(async (key) => (await fetchForm(picture.id, key)).headers.get('etag')),
    );
    expect(new Set(etags).size).toBe(keys.length);
    const original = await fetchForm(picture.id, 'original');
    expect(sha256(original.bytes)).toBe('file_hash' in picture ? picture.file_hash : '');
  });

  // DOWNLOAD-3
  test('is 409 for a kind of file that cannot be made into it, and 404 without the content', async () => {
    const text = await upload(mara, plainFile(), { sensitivity: 'org' }, 'text.txt');
    for (const [id, key] of [
      [text.id, 'small'],
      [text.id, 'film'],
      [picture.id, 'film'],
      [picture.id, 'pdf'],
    ] as const)
      expect([key, (await fetchForm(id, key)).status]).toEqual([key, 409]);
    expect((await fetchForm(text.id, 'original')).status).toBe(200);
    // LANGUAGE-9
    const damaged = [
      [
        Buffer.from([0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0, 65, 66]),
        /: ihr Kopf ist beschädigt \(it does not end\)$/,
      ],
      [(await jpeg(60, 40, { seed: 4 })).subarray(0, 400), /: sie lässt sich nicht dekodieren \(„\w.*“\)$/],
    ] as const;
    for (const [bytes, reason] of damaged) {
      const { id } = await upload(mara, Uint8Array.from(bytes), {}, 'damaged');
      const { status, bytes: said } = await fetchForm(id, 'small', mara, { 'accept-language': 'de' });
      expect([status, JSON.parse(String(said)).error]).toEqual([409, expect.stringMatching(reason)]);
    }
    const hidden = await upload(mara, await jpeg(50, 50, { seed: 9 }), { sensitivity: 'restricted' });
    expect((await fetchForm(hidden.id, 'small', ann)).status).toBe(404);
    expect((await fetchForm(hidden.id, 'small')).status).toBe(200);
  });

  // DOWNLOAD-4, DOWNLOAD-5
  test('keeps all metadata, the rights, the fields or none', async () => {
    // Metadata is not compressed in any of these.
    const about = async (key: string) => {
      const text = (await fetchForm(picture.id, key)).bytes.toString('latin1');
      return ['Camera maker', 'Mara', 'Harbour wall', 'quay'].filter((word) => text.includes(word));
    };
    expect(await about('web')).toEqual(['Camera maker', 'Mara']);
    expect(await about('print')).toEqual(['Mara']);
    expect(await about('small')).toEqual([]);
    expect(await about('bare')).toEqual([]);
    expect(await about('named')).toEqual(expect.arrayContaining(['Harbour wall', 'quay']));
  });
});

// DOWNLOAD-6
test('copies are kept within a limit: the least recently used goes', async () => {
  const conversions = openConversions(library.deps, 1);
  const source = {
    hash: 'file_hash' in picture ? (picture.file_hash ?? '') : '',
    mime: 'image/jpeg',
    extension: 'jpg',
  };
  const form = {
    format: 'png',
    maxDim: 31,
    quality: 85,
    colour: 'srgb',
    metadata: 'strip',
    tags: [],
  } as const;
  const first = await conversions.find(source, form);
  const second = await conversions.find(source, { ...form, maxDim: 32 });
  expect(await library.deps.storage.head(first.object)).toBeNull();
  expect(await library.deps.storage.head(second.object)).not.toBeNull();
  expect(await conversions.find(source, { ...form, maxDim: 32 })).toEqual(second);
});

// ARCHIVE-7
test('an archive has its files in the form of a preset, and lists what cannot be made into it', async () => {
  const text = await upload(mara, plainFile('words'), { sensitivity: 'org' }, 'words.txt');
  const body = { ids: [picture.id, text.id], preset: 'small' };
  const archive = await mara.ok('createArchive', { body });
  expect(archive).not.toHaveProperty('bytes');
  const answer = await fetch(`${library.address}${archive.url}`, {
    headers: { cookie: `user=${mara.cookie() ?? ''}` },
  });
  const zip = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  expect(zip).toContain('wall.jpg');
  expect(zip).toContain(`${text.id}\ta file of this kind cannot be made into jpeg`);
  for (const preset of ['admins', 'nothing'])
    expect(await mara.status('POST', '/archives', { ...body, preset })).toBe(404);
});

// ASSET-40
test.each([
  ['a whole file', 200, null, true],
  ['its first part', 206, 'bytes=0-', true],
  ['a later part', 206, 'bytes=10-', false],
  ['a redirect to the bucket', 302, null, true],
  ['a redirect of a later part', 302, 'bytes=10-', false],
  ['a file that is unchanged', 304, null, false],
])('a response with %s is recorded only if a download begins with it', (_, status, range, begins) => {
  expect(beginsDownload({ header: () => range ?? undefined, isHead: false }, status)).toBe(begins);
  expect(beginsDownload({ header: () => range ?? undefined, isHead: true }, status)).toBe(false);
});

test('the file of a download that cannot be recorded is closed', async () => {
  const body = new Readable({ read() {} });
  const recorded = Promise.reject(new Error('no database'));
  await expect(onceRecorded({ status: 200, body }, recorded)).rejects.toThrow('no database');
  expect(body.destroyed).toBe(true);
});
