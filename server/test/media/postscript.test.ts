import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { locateGhostscript } from '../../src/media/postscript/ghostscript.ts';
import { sentence } from '../../src/platform/language/sentence.ts';
import { dosEps, eps, epsi, postscript } from './postscript.ts';
import { colourAt, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();
const installed = locateGhostscript(process.env.VITRINE_TEST_GHOSTSCRIPT);
const hasty = openStudio({ ghostscript: installed, limits: { document: { timeoutMs: 3000 } } });

beforeEach(() => {
  vi.stubEnv('GHOSTSCRIPT_PROGRAM', 'off');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

// MEDIA-31
describe('PostScript where Ghostscript is not installed', () => {
  const text = new TextDecoder().decode(epsi());
  const claiming = new TextEncoder().encode(text.replace('16 8 1 8', '99999 99999 8 8'));

  test('has the TIFF preview of a DOS EPS', async () => {
    const { width, height } = pictureOf(await studio.render(await dosEps(), 'application/eps'));
    expect([width, height]).toEqual([320, 160]);
  });

  test('has the preview in the comments of an EPSI, whose larger samples are darker', async () => {
    const picture = pictureOf(await studio.render(epsi(), 'application/eps'));
    expect([picture.width, picture.height]).toEqual([16, 8]);
    expect((await colourAt(picture.path, 0, 0))[0]).toBeLessThan(40);
    expect((await colourAt(picture.path, 0.99, 0))[0]).toBeGreaterThan(215);
  });

  test.each([
    ['EPS', eps(), 'application/eps'],
    ['PostScript', postscript(), 'application/postscript'],
    ['a preview that is cut off', epsi().slice(0, 150), 'application/eps'],
    ['a preview of more pixels than it has samples', claiming, 'application/eps'],
  ])('says so of a file without one: %s', async (_, bytes, mime) => {
    const { ladder } = await studio.render(bytes, mime);
    expect(ladder).toEqual({
      outcome: 'unsupported',
      reason: sentence('Ghostscript is not installed, and the file has no preview'),
    });
  });
});

// MEDIA-31
describe.skipIf(installed === null)('PostScript with Ghostscript', () => {
  beforeEach(() => {
    vi.stubEnv('GHOSTSCRIPT_PROGRAM', installed ?? '');
  });

  test('is drawn within its bounding box, with its words', async () => {
    const rendering = await studio.render(eps(), 'application/eps');
    const { width, height } = pictureOf(rendering);
    expect((width ?? 0) / (height ?? 1)).toBeCloseTo(2, 1);
    expect(rendering.text).toContain('Tangerine');
  });

  // MEDIA-17, MEDIA-31
  test.each(['/etc/passwd', '%pipe%id'])('reads no other file, and runs no program: %s', async (name) => {
    const bytes = eps([`(${name}) (r) file 1000 string readstring pop show`]);
    expect((await studio.render(bytes, 'application/eps')).ladder.outcome).toBe('unsupported');
  });

  test('that never ends reaches the limit of its decoder', async () => {
    expect(await hasty.outcomeOf(eps(['{ } loop']), 'application/eps')).toBe('stopped: time');
  });
});
