import { describe, expect, test } from 'vitest';
import {
  boundlessFont,
  boundlessGltf,
  manyFrames,
  nestedZip,
  paintingPdf,
  thread,
  unpackingDocx,
  unpackingPdf,
  unpackingSvgz,
  unpackingTar,
} from './bombs.ts';
import { openStudio } from './still-kit.ts';
import { mp4 } from './tagged-files.ts';

// Without LibreOffice and Ghostscript, so that the outcomes are the same on every machine.
const studio = openStudio({
  libreoffice: 'off',
  ghostscript: 'off',
  limits: { document: { memoryBytes: 700 * 1024 ** 2 } },
});
const small = openStudio({ limits: { document: { memoryBytes: 300 * 1024 ** 2 } } });
const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

// MEDIA-5, MEDIA-6, MEDIA-7
describe('a decompression bomb', () => {
  test.each<[string, string, string | RegExp, () => Uint8Array | Promise<Uint8Array>]>([
    ['a GIF of 100,000 frames', 'image/gif', 'rendered', () => manyFrames(100_000)],
    ['a picture of 1 x 30,000 pixels', 'image/png', 'rendered', thread],
    ['a PDF whose page unpacks to 10 MB', 'application/pdf', 'rendered', () => unpackingPdf(10)],
    ['a PDF with a picture of 100 megapixels', 'application/pdf', 'rendered', () => paintingPdf(10_000, 20)],
    ['a DOCX that unpacks to 90 MB', docxType, /^unsupported: LibreOffice/, () => unpackingDocx(2)],
    ['a ZIP in a ZIP in a ZIP', 'application/zip', 'unsupported: nothing to draw', nestedZip],
    ['an SVGZ of 6 GB', 'application/gzip', 'unsupported: it holds a single file', unpackingSvgz],
    ['a TAR.GZ of 2 GB', 'application/gzip', 'unsupported: nothing to draw', () => unpackingTar(2.0625)],
    ['a font of 100,000 characters', 'font/ttf', 'rendered', () => boundlessFont(1)],
    ['a model of 4 billion corners', 'model/gltf+json', /^broken: /, () => boundlessGltf(4_000_000_000)],
    ['a video without frames', 'video/mp4', /^broken: /, () => mp4(2)],
  ])('is rendered, listed or refused within the limits: %s', async (_, mime, outcome, make) => {
    const came = await studio.outcomeOf(await make(), mime);
    if (typeof outcome === 'string') expect(came).toBe(outcome);
    else expect(came).toMatch(outcome);
  });

  test('stops its decoder at the memory limit: a font of 100 million characters', async () => {
    expect(await small.outcomeOf(await boundlessFont(1000), 'font/ttf')).toBe('stopped: memory');
  });
});
