import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { isFaultOfTheMachine, withoutPaths } from '../../src/media/faults.ts';
import { reasonIn } from '../../src/operate/admin/job-reason.ts';
import { saySentence, sentence } from '../../src/platform/language/sentence.ts';
import { type Bytes, fileOf, numbers } from './binary.ts';
import { pdf } from './documents.ts';
import { slowSvg } from './hostile-files.ts';
import { docx, odt, tar, zip } from './packages.ts';
import { largestRung, openStudio } from './still-kit.ts';

const studio = openStudio();

/** Returns the archive with a ZIP64 end record of these bytes, and the locator that points at it. */
function withZip64End(archive: Bytes, fill: number): Bytes {
  const end = Buffer.from(archive).lastIndexOf('PK\x05\x06');
  const record = new Uint8Array(52).fill(fill);
  const place = numbers('iiii', 0, end, 0, 1);
  const last = Uint8Array.from(archive.slice(end));
  // The ordinary record refers to the larger one.
  last.fill(0xff, 8, 20);
  return fileOf(archive.slice(0, end), 'PK\x06\x06', record, 'PK\x06\x07', place, last);
}

/** Returns the archive with the bytes of its ordinary end record replaced. */
function withEnd(archive: Bytes, fill: number): Bytes {
  const copy = Uint8Array.from(archive);
  copy.fill(fill, Buffer.from(archive).lastIndexOf('PK\x05\x06') + 4);
  return copy;
}

const archives: Readonly<Record<string, [mime: string, bytes: Bytes]>> = {
  ZIP: ['application/zip', zip({ 'a.txt': 'a', 'b.txt': 'b'.repeat(100) })],
  DOCX: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', docx(['One', 'Two'])],
  ODT: ['application/vnd.oasis.opendocument.text', odt('One')],
  EPUB: ['application/epub+zip', zip({ mimetype: 'application/epub+zip', 'a.xhtml': '<p>One</p>' })],
};

const others: Readonly<Record<string, [mime: string, bytes: Uint8Array]>> = {
  PDF: ['application/pdf', pdf(['One'])],
  TAR: ['application/x-tar', await tar({ 'a.txt': 'a'.repeat(2000), 'b.txt': 'b' })],
  'compressed TAR': ['application/gzip', gzipSync(await tar({ 'a.txt': 'a'.repeat(2000) }))],
  TrueType: ['font/ttf', fileOf('\0\x01\0\0', numbers('hhhh', 0x0100, 0, 0, 0), new Uint8Array(200))],
  WOFF2: ['font/woff2', fileOf('wOF2\0\x01\0\0', new Uint8Array(200))],
  RTF: ['application/rtf', fileOf('{\\rtf1 ', new Uint8Array(200))],
  PostScript: ['application/postscript', fileOf('%!PS-Adobe-3.0\n', new Uint8Array(200))],
  GLB: ['model/gltf-binary', fileOf('glTF', numbers('ii', 2, 0xffff_ffff), new Uint8Array(200))],
  FBX: ['model/vnd.fbx', fileOf('Kaydara FBX Binary  \0\x1a\0', new Uint8Array(200))],
  sound: ['audio/wav', fileOf('RIFF', numbers('i', 0xffff_ffff), 'WAVEfmt ', new Uint8Array(200))],
};

/** Returns copies of a file whose end or beginning is lost or overwritten. */
function damaged(bytes: Uint8Array): [name: string, bytes: Uint8Array][] {
  const overwritten = (fill: number, from: number, to: number) => Uint8Array.from(bytes).fill(fill, from, to);
  const { length } = bytes;
  return [0, 0xff].flatMap((fill): [string, Uint8Array][] => [
    [`its end is ${fill}`, overwritten(fill, Math.max(8, length - 64), length)],
    [`its second half is ${fill}`, overwritten(fill, length >> 1, length)],
    [`all but its signature is ${fill}`, overwritten(fill, 16, length)],
    [`it is cut off at ${fill}`, bytes.slice(0, fill === 0 ? length >> 1 : length - 10)],
  ]);
}

/** Returns what a decoder makes of the bytes, and its reason. Rejects if the file would be tried again. */
async function outcomeOf(bytes: Uint8Array, mime: string): Promise<{ outcome: string; reason: string }> {
  const { ladder } = await studio.decode(bytes, mime);
  const reason = ladder.outcome === 'rendered' ? '' : saySentence('en', ladder.reason);
  return { outcome: ladder.outcome, reason };
}

// MEDIA-38
describe('a damaged file is refused at once, whatever a library throws', () => {
  test.each(Object.entries(archives))('%s with a damaged end record', async (_, [mime, bytes]) => {
    for (const fill of [0, 0xff, 0x7f]) {
      for (const changed of [withZip64End(bytes, fill), withEnd(bytes, fill)]) {
        const { outcome, reason } = await outcomeOf(changed, mime);
        expect(['broken', 'unsupported']).toContain(outcome);
        expect(reason).not.toMatch(/\//);
      }
    }
  });

  test.each(Object.entries({ ...archives, ...others }))('%s', async (_, [mime, bytes]) => {
    for (const [name, changed] of damaged(bytes)) {
      const { outcome, reason } = await outcomeOf(changed, mime);
      expect(['rendered', 'broken', 'unsupported'], name).toContain(outcome);
      expect(reason, name).not.toMatch(/\/(?:tmp|work|home|usr)/);
    }
  });
});

// MEDIA-38
test('an error that a library throws in a callback is a fault of the file, and ends only its decoder', async () => {
  const late = "process.once('message', () => setTimeout(() => { throw new RangeError('late'); }));";
  const module = join(import.meta.dirname, '../../src/media/decoding/child.ts');
  const child = fork(module, { execArgv: ['--import', `data:text/javascript,${encodeURIComponent(late)}`] });
  const answers: unknown[] = [];
  child.on('message', (answer) => answers.push(answer));
  await once(child, 'message');
  const { path, outDir } = await studio.place(slowSvg());
  child.send({ task: 'ladder', input: { path, mime: 'image/svg+xml', rungs: largestRung, outDir } });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(answers.at(-1)).toMatchObject({
    kind: 'done',
    isLast: true,
    output: { ladder: { outcome: 'broken', reason: sentence('it cannot be decoded') } },
  });
});

// MEDIA-38
describe('a reason', () => {
  test.each([
    ["cannot open '/srv/vitrine/library/ab/cd': bad seek", "cannot open 'the file': bad seek"],
    ['failed at file:///work/node_modules/a/index.js:3', 'failed at the file:3'],
    ['image/heic is not rendered', 'image/heic is not rendered'],
    ['2 of 3 and/or more; see https://example.org/a/b', '2 of 3 and/or more; see https://example.org/a/b'],
  ])('names no path of the server: %s', (message, shown) => {
    expect(withoutPaths(message)).toBe(shown);
  });

  test('of a failed job names no path of the server', () => {
    expect(reasonIn('en', 'Error: unexpected end of /srv/vitrine/library/ab/cd\n    at x')).toBe(
      'Unexpected end of the file.',
    );
  });

  test('is the file’s when it declares an impossible offset', () => {
    const error = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });
    expect(isFaultOfTheMachine(error('EINVAL', 'read'))).toBe(false);
    expect(isFaultOfTheMachine(error('EIO', 'read'))).toBe(true);
    expect(isFaultOfTheMachine(error('EINVAL', 'write'))).toBe(true);
  });
});
