import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { fromLibrary } from '../../src/media/source.ts';
import { asFileFault } from '../../src/media/still.ts';
import { sentence } from '../../src/platform/language/sentence.ts';
import { pdf } from './documents.ts';
import { obj, torus } from './models.ts';
import { docx, zip } from './packages.ts';
import { BLUE, exr, j2k, RED, stored } from './picture-files.ts';
import { openStudio } from './still-kit.ts';

const studio = openStudio();
const { resolve } = createRequire(import.meta.url);

/** Files, each with the package without which it cannot be rendered. */
const needs: [library: string, mime: string, make: () => Uint8Array | Promise<Uint8Array>][] = [
  ['fontkit', 'font/woff2', () => readFile(resolve('@fontsource/inter/files/inter-latin-400-normal.woff2'))],
  ['@fontsource/inter', 'text/plain', () => Buffer.from('# Title\n\nSome **words**.\n')],
  ['@hyzyla/pdfium', 'application/pdf', () => pdf(['One'])],
  ['assimpjs', 'model/obj', () => obj(torus(6, 4))],
  ['parse-exr', 'image/x-exr', () => exr(4, 4, { halves: [RED, BLUE] })],
  ['@cornerstonejs/codec-openjpeg', 'image/j2c', () => j2k(16, 16)],
  ['libheif-js', 'image/heic', () => stored('halves.heic')],
  ['@zip.js/zip.js', 'application/zip', () => zip({ 'a.txt': 'a' })],
  [
    '@zip.js/zip.js',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    () => docx(['One']),
  ],
];

// MEDIA-30
describe('a library that is not installed', () => {
  test('is a fault of the machine, never a damaged file', async () => {
    const script = join(import.meta.dirname, 'without-library.ts');
    const files: string[] = [];
    for (const [, mime, make] of needs) files.push(mime, (await studio.place(await make())).path);
    const { outDir } = await studio.place(Buffer.alloc(0));
    const missing = needs.map(([library]) => library).join(',');
    const { stdout } = await promisify(execFile)(process.execPath, [script, missing, outDir, ...files]);
    const faults = /^(?:INSTALLATION_FAULT|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND)$/;
    expect(stdout.trim().split('\n')).toEqual(needs.map(() => expect.stringMatching(faults)));
  });

  test.each([
    ['asFileFault', (read: () => Promise<unknown>) => asFileFault(sentence('the model is damaged'), read)],
    ['fromLibrary', (read: () => Promise<unknown>) => fromLibrary(read)],
  ])('is a fault of the machine also where all other errors are blamed on the file: %s', async (_, blame) => {
    const lack = () => import('a-package-that-is-not-installed' as string);
    await expect(blame(lack)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
  });
});

test('a damaged file carries the parser’s error for the log', async () => {
  const { ladder } = await studio.render(Buffer.from('glTF and nothing else'), 'model/gltf-binary');
  expect(ladder).toMatchObject({
    outcome: 'broken',
    reason: sentence('the model is damaged'),
    detail: expect.stringMatching(/Error: .*\n\s+at /),
  });
});
