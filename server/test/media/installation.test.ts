import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromLibrary } from '../../src/media/stills/source.ts';
import { asFileFault } from '../../src/media/stills/still.ts';
import { pdf } from './documents.ts';
import { obj, torus } from './models.ts';
import { docx, zip } from './packages.ts';
import { exr, j2k, stored } from './picture-files.ts';
import { openStudio } from './still-kit.ts';

const studio = openStudio();

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-installation-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Returns the outcome of rendering without this package, or the code of the error. */
async function outcomeWithout(library: string, mime: string, bytes: Uint8Array): Promise<string> {
  const path = join(directory, 'file');
  await writeFile(path, bytes);
  const script = join(import.meta.dirname, 'without-library.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, library, mime, path, directory]);
  return stdout.trim();
}

const text = () => new TextEncoder().encode('# Title\n\nSome **words**.\n');
const font = () =>
  readFile(
    join(import.meta.dirname, '../../../node_modules/@fontsource/inter/files/inter-latin-400-normal.woff2'),
  );

// MEDIA-30
describe('a library that is not installed', () => {
  test.each<[string, string, () => Uint8Array | Promise<Uint8Array>]>([
    ['fontkit', 'font/woff2', font],
    ['@fontsource/inter', 'font/woff2', font],
    ['@fontsource/inter', 'text/plain', text],
    ['@hyzyla/pdfium', 'application/pdf', () => pdf(['One'])],
    ['assimpjs', 'model/obj', () => obj(torus(6, 4))],
    [
      'parse-exr',
      'image/x-exr',
      () =>
        exr(4, 4, {
          halves: [
            [1, 1, 1],
            [0, 0, 0],
          ],
        }),
    ],
    ['@cornerstonejs/codec-openjpeg', 'image/j2c', () => j2k(16, 16)],
    ['libheif-js', 'image/heic', () => stored('halves.heic')],
    ['yauzl', 'application/zip', () => zip({ 'a.txt': 'a' })],
    ['yauzl', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', () => docx(['One'])],
  ])('is a fault of the machine, never a damaged file: %s for %s', async (library, mime, make) => {
    expect(await outcomeWithout(library, mime, await make())).toMatch(
      /^(?:INSTALLATION_FAULT|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND)$/,
    );
  });

  test.each([
    ['asFileFault', (read: () => Promise<unknown>) => asFileFault('damaged', read)],
    ['fromLibrary', (read: () => Promise<unknown>) => fromLibrary(read)],
  ])('is a fault of the machine also where all other errors are blamed on the file: %s', async (_, blame) => {
    const lack = () => import('a-package-that-is-not-installed' as string);
    await expect(blame(lack)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
  });
});

test('a damaged file carries the parser’s error for the log', async () => {
  const { ladder } = await studio.render(
    new TextEncoder().encode('glTF and nothing else'),
    'model/gltf-binary',
  );
  expect(ladder).toMatchObject({
    outcome: 'broken',
    reason: 'the model is damaged',
    detail: expect.stringMatching(/Error: .*\n\s+at /),
  });
});
