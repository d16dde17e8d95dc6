import { truncate } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { checkBytes } from '../../src/doctor/bytes.ts';
import { subtitlesKey } from '../../src/platform/storage/object-key.ts';
import { mp4 } from '../media/tagged-files.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';

let library: Library;
let root: Account;
let mara: Account;
let id: string;
let hash: string;
let bytes: number;

const srt = (text: string) => `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`;

function put(asset: string, lang: string, content: string) {
  const body = new FormData();
  body.append('file', new Blob([content]), 'film.srt');
  return mara.send(`/assets/${asset}/subtitles/${lang}`, { method: 'PUT', body });
}

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  mara = await library.join('mara');
  ({ id } = await upload(mara, Uint8Array.from(mp4(1)), {}, 'film.mp4'));
  // Identical texts in two languages share one file.
  for (const lang of ['en', 'de']) expect((await put(id, lang, srt('Hello'))).status).toBe(201);
  const row = await library.deps.db
    .selectFrom('subtitles')
    .select(['file_hash', 'size_bytes'])
    .executeTakeFirstOrThrow();
  hash = row.file_hash;
  bytes = row.size_bytes;
});

test('stored subtitles are part of what the library holds, each file once', async () => {
  await root.ok('countStorage');
  await library.runJobs();
  const { counted } = await root.ok('getStorage');
  expect(counted?.subtitles).toEqual({ count: 1, bytes });
});

// QUOTA-1
test('they count in the quota of the owner of the asset, and are refused beyond it', async () => {
  const { used_bytes } = await mara.ok('getOwnQuota');
  expect(used_bytes).toBe(mp4(1).length + bytes);
  expect((await root.ok('getQuotas')).used_bytes).toBe(used_bytes);
  await root.ok('setQuotas', { body: { person_bytes: used_bytes, install_bytes: null } });
  expect((await put(id, 'fr', srt('Bonjour'))).status).toBe(413);
  await root.ok('setQuotas', { body: { person_bytes: null, install_bytes: null } });
  expect((await put(id, 'fr', srt('Bonjour'))).status).toBe(201);
});

test('a damaged file of subtitles is named with its assets by the doctor', async () => {
  const lines: string[] = [];
  const check = () =>
    checkBytes(library.deps, {
      after: '',
      repair: false,
      signal: new AbortController().signal,
      print: (line) => lines.push(line),
      progress: () => {},
    });
  expect([(await check()).lost, lines]).toEqual([0, []]);
  await truncate(objectPath(library, subtitlesKey(hash)), 3);
  expect((await check()).lost).toBe(1);
  expect(lines).toEqual([
    `LOST      ${subtitlesKey(hash)}: has 3 of ${bytes} bytes`,
    `  subtitles of asset ${id} (de)`,
    `  subtitles of asset ${id} (en)`,
  ]);
});
