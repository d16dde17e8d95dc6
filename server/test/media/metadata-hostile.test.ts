import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDecoders } from '../../src/media/decoding/decoders.ts';
import { type MetadataReader, openMetadataReader } from '../../src/media/metadata/reader.ts';
import { emptyFile, jpeg, plainText, truncatedJpeg } from '../support/pictures.ts';
import { isAlive } from '../support/process.ts';
import { mp4, pdf, pictureFile, stopTagging, tagFile } from './tagged-files.ts';

const run = promisify(execFile);

const decoders = openDecoders({ limits: { metadata: { timeoutMs: 5_000 } } });
let directory: string;
let exiftool: MetadataReader;
let fallback: MetadataReader;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-hostile-'));
  exiftool = openMetadataReader({ decoders, timeoutMs: 5_000 });
  fallback = openMetadataReader({ decoders, perl: null });
});
afterAll(async () => {
  await exiftool.close();
  await decoders.close();
  await stopTagging();
  await rm(directory, { recursive: true, force: true });
});

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(directory, `file-${randomBytes(4).toString('hex')}`);
  await writeFile(path, bytes);
  return path;
}

async function goodFile(): Promise<string> {
  const path = await fileOf(emptyFile());
  await pictureFile(path, 'jpeg');
  await tagFile(path, { 'XMP-dc:Title': 'Fine' });
  return path;
}

const decodersModule = join(import.meta.dirname, '../../src/media/decoding/decoders.ts');

const packet = (inside: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">${inside}</rdf:Description></rdf:RDF></x:xmpmeta>`;

/** A TIFF may contain XMP of any length. */
const withXmp = async (inside: string) =>
  sharp(await jpeg(20, 20))
    .withXmp(packet(inside))
    .tiff()
    .toBuffer();

const readers = [
  ['ExifTool', () => exiftool],
  ['the other reader', () => fallback],
] as const;

describe.each(readers)('%s with damaged or mislabelled files', (_, reader) => {
  test.each([
    ['an empty body', async () => emptyFile()],
    ['10 MB of junk', async () => randomBytes(10_000_000)],
    ['10 MB of zeros', async () => Buffer.alloc(10_000_000)],
    ['a text', async () => plainText()],
  ])('%s tells nothing, and that is no failure', async (_name, make) => {
    expect(await reader().read(await fileOf(await make()))).toMatchObject({
      outcome: 'read',
      sources: {},
      fault: null,
    });
  });

  test('a truncated file gives the metadata of its beginning, or cannot be read', async () => {
    const whole = await goodFile();
    const bytes = await readFile(whole);
    const cut = await reader().read(await fileOf(bytes.subarray(0, bytes.length - 40)));
    expect(cut).toMatchObject({ outcome: 'read', sources: { title: { value: 'Fine' } } });
    for (const part of [await truncatedJpeg(), mp4(3).subarray(0, 2100), pdf(2).subarray(0, 100)]) {
      const made = await reader().read(await fileOf(part));
      expect(made.outcome === 'failed' || Object.keys(made.sources).length <= 1).toBe(true);
    }
  });

  test('the file name is not trusted', async () => {
    const path = join(directory, 'called.mp3');
    await writeFile(path, await withXmp('<dc:title>Fine</dc:title>'));
    expect(await reader().read(path)).toMatchObject({ sources: { title: { value: 'Fine' } } });
  });

  test('XMP 1,000 levels deep and 5,000 entries wide ends within the limit, and the next file is read', async () => {
    const deep = `${'<dc:a rdf:parseType="Resource">'.repeat(1_000)}x${'</dc:a>'.repeat(1_000)}`;
    const wide = `<dc:subject><rdf:Bag>${'<rdf:li>word</rdf:li>'.repeat(5_000)}</rdf:Bag></dc:subject>`;
    for (const inside of [deep, wide, '&a;'.repeat(1000)]) {
      const made = await reader().read(await fileOf(await withXmp(inside)));
      const kept = made.outcome === 'read' ? JSON.stringify([made.sources, made.raw]) : '';
      expect(kept.length).toBeLessThan(300_000);
    }
    expect(await reader().read(await goodFile())).toMatchObject({ sources: { title: { value: 'Fine' } } });
  });

  // EXTRACT-11
  test('texts are storable: bounded, without NUL or lone surrogates', async () => {
    const long = `a&#xD83D;b ${'å'.repeat(50_000)}`;
    const made = await reader().read(
      await fileOf(await withXmp(`<dc:title>${long}</dc:title><dc:description>ok</dc:description>`)),
    );
    const text = JSON.stringify(made);
    expect(text).not.toMatch(/\\u0000|\\ud8/i);
    expect(text.length).toBeLessThan(40_000);
  });
});

describe('ExifTool', () => {
  test('leaves a picture truncated behind its tags to the fallback reader', async () => {
    const path = await fileOf(emptyFile());
    await pictureFile(path, 'jpeg');
    await tagFile(path, { 'EXIF:Make': 'Vitrine Optics' });
    const whole = await readFile(path);
    // The first segment with its length, and the beginning of the next one.
    const exif = whole.indexOf('Exif\0\0', 0, 'latin1') - 4;
    const cut = whole.subarray(0, exif + 2 + whole.readUInt16BE(exif + 2) + 6);
    expect(await exiftool.read(await fileOf(cut))).toMatchObject({
      sources: { camera_make: { value: 'Vitrine Optics', from: 'exif' } },
      fault: null,
    });
  });

  test('is killed on an endless file, and the next file is read', async () => {
    const reader = openMetadataReader({ decoders, timeoutMs: 3000 });
    const pipe = join(directory, 'pipe');
    await run('mkfifo', [pipe]);
    await reader.name();
    const began = performance.now();
    expect(await reader.read(pipe)).toMatchObject({
      outcome: 'failed',
      reason: 'the file took too long to read',
    });
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await reader.read(await goodFile())).toMatchObject({ outcome: 'read', fault: null });
    await reader.close();
  });

  test('runs no configuration file that it finds', async () => {
    const ran = join(directory, 'ran');
    await writeFile(join(directory, '.ExifTool_config'), `open(my $f, '>', '${ran}'); close $f; 1;\n`);
    const module = join(import.meta.dirname, '../../src/media/metadata/reader.ts');
    const script = `const { openMetadataReader } = await import(${JSON.stringify(module)});
      const { openDecoders } = await import(${JSON.stringify(decodersModule)});
      const reader = openMetadataReader({ decoders: openDecoders() });
      console.log((await reader.read(${JSON.stringify(await goodFile())})).sources.title.value);
      await reader.close();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? '', HOME: directory, EXIFTOOL_HOME: directory },
    });
    expect(stdout.trim()).toBe('Fine');
    await expect(access(ran)).rejects.toThrow('ENOENT');
  });

  test('ends with the process that started it, even when that is killed', async () => {
    const module = join(import.meta.dirname, '../../src/media/metadata/reader.ts');
    const script = `const { openMetadataReader } = await import(${JSON.stringify(module)});
      const { execFileSync } = await import('node:child_process');
      const { openDecoders } = await import(${JSON.stringify(decodersModule)});
      await openMetadataReader({ decoders: openDecoders() }).read(${JSON.stringify(await goodFile())});
      const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)]);
      process.stdout.write(children, () => process.kill(process.pid, 'SIGKILL'));`;
    const ended = await run(process.execPath, ['--input-type=module', '-e', script]).catch(
      (error: { stdout?: string }) => error,
    );
    const programs = [...(ended.stdout ?? '').matchAll(/^\s*(\d+) perl$/gm)].map(([, pid]) => Number(pid));
    expect(programs.length).toBeGreaterThan(0);
    for (let tries = 0; tries < 50 && programs.some(isAlive); tries += 1) await sleep(100);
    expect(programs.filter(isAlive)).toEqual([]);
  });
});
