import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDecoders } from '../../src/media/decoding/decoders.ts';
import { defaultLadder } from '../../src/media/ladder.ts';
import { locateGhostscript } from '../../src/media/postscript/ghostscript.ts';
import { dosEps, eps, epsi, postscript } from './postscript.ts';
import { openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();
const installed = locateGhostscript(process.env.VITRINE_TEST_GHOSTSCRIPT);
let named: string | undefined;

beforeEach(() => {
  named = process.env.GHOSTSCRIPT_PROGRAM;
  process.env.GHOSTSCRIPT_PROGRAM = 'off';
});
afterEach(() => {
  if (named === undefined) delete process.env.GHOSTSCRIPT_PROGRAM;
  else process.env.GHOSTSCRIPT_PROGRAM = named;
});

// MEDIA-31
describe('PostScript where Ghostscript is not installed', () => {
  test('has the TIFF preview of a DOS EPS', async () => {
    const { width, height } = pictureOf(await studio.render(await dosEps(), 'application/eps'));
    expect([width, height]).toEqual([320, 160]);
  });

  test('has the preview in the comments of an EPSI, whose larger samples are darker', async () => {
    const picture = pictureOf(await studio.render(epsi(), 'application/eps'));
    expect([picture.width, picture.height]).toEqual([16, 8]);
    const { data, info } = await sharp(picture.path).greyscale().raw().toBuffer({ resolveWithObject: true });
    expect(data[0]).toBeLessThan(40);
    expect(data[info.width - 1]).toBeGreaterThan(215);
  });

  test.each([
    ['EPS', eps(), 'application/eps'],
    ['PostScript', postscript(), 'application/postscript'],
    ['a preview that is cut off', epsi().slice(0, 150), 'application/eps'],
    ['a preview of more pixels than it has samples', claiming(), 'application/eps'],
  ])('says so of a file without one: %s', async (_, bytes, mime) => {
    const { ladder } = await studio.render(bytes, mime);
    expect(ladder).toEqual({
      outcome: 'unsupported',
      reason: 'Ghostscript is not installed, and the file has no preview',
    });
  });
});

function claiming() {
  const text = new TextDecoder().decode(epsi());
  return new TextEncoder().encode(text.replace('16 8 1 8', '99999 99999 8 8'));
}

// MEDIA-31
describe.skipIf(installed === null)('PostScript with Ghostscript', () => {
  beforeEach(() => {
    process.env.GHOSTSCRIPT_PROGRAM = installed ?? '';
  });

  test('is drawn within its bounding box, with its words', async () => {
    const rendering = await studio.render(eps(), 'application/eps');
    const { width, height } = pictureOf(rendering);
    expect((width ?? 0) / (height ?? 1)).toBeCloseTo(2, 1);
    expect(rendering.text).toContain('Tangerine');
  });

  // MEDIA-17, MEDIA-31
  test('reads and writes no other file', async () => {
    const peeking = eps(['(/etc/passwd) (r) file 1000 string readstring pop show']);
    const { ladder } = await studio.render(peeking, 'application/eps');
    expect(ladder).toMatchObject({ outcome: 'unsupported' });
    const running = eps(['(%pipe%id) (r) file 1000 string readstring pop show']);
    expect((await studio.render(running, 'application/eps')).ladder).toMatchObject({
      outcome: 'unsupported',
    });
  });

  test('that never ends reaches the limit of its decoder', async () => {
    const decoders = openDecoders({
      ghostscript: installed,
      limits: { document: { timeoutMs: 3000 } },
    });
    const directory = await mkdtemp(join(tmpdir(), 'vitrine-postscript-'));
    try {
      const path = join(directory, 'endless.eps');
      await writeFile(path, eps(['{ } loop']));
      const input = { path, mime: 'application/eps', rungs: defaultLadder, outDir: directory };
      await expect(decoders.run('document', 'test', 'ladder', input)).rejects.toThrow('took longer than 3 s');
    } finally {
      await decoders.close();
      await rm(directory, { recursive: true });
    }
  });
});
