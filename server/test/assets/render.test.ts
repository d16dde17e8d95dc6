import { rm } from 'node:fs/promises';
import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio } from 'thumbhash';
import { describe, expect, test } from 'vitest';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { requestAs } from '../support/client.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { animatedGif, cmykJpeg, jpeg, plainText, png, svg } from '../support/pictures.ts';

const library = await openLibrary();
const mara = await library.join('mara');

const shown = (id: string) => mara.ok('getAsset', { params: { id } });

/** Uploads a picture, renders it, and returns its id. */
async function rendered(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { id } = await upload(mara, bytes);
  await library.runJobs();
  return id;
}

async function variant(id: string, key: string) {
  const response = await requestAs(mara, library, `/assets/${id}/variants/${key}`);
  expect(response.status).toBe(200);
  const picture = sharp(await response.bytes());
  const { width, height, format } = await picture.metadata();
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  /** The red and green of a pixel. */
  const at = (x: number, y: number) => data.subarray((y * info.width + x) * info.channels).subarray(0, 2);
  return { shape: [width, height], format, at };
}

describe('the preview ladder', () => {
  // MEDIA-2, MEDIA-11
  test('keeps the aspect ratio, crops the square, never enlarges, and has a thumbhash of about 30 bytes', async () => {
    const id = await rendered(await jpeg(3000, 1500));
    const asset = await shown(id);
    expect(asset).toMatchObject({ pixel_width: 3000, pixel_height: 1500 });
    const hash = Buffer.from((asset.restricted ? null : asset.thumbhash) ?? '', 'base64');
    expect([hash.length > 10, hash.length < 40]).toEqual([true, true]);
    expect(thumbHashToApproximateAspectRatio(hash)).toBeCloseTo(2, 0);
    const small = await rendered(await png(90, 60));
    for (const [of, key, shape] of [
      [id, 'col', [320, 320]],
      [id, 'preview', [1024, 512]],
      [id, 'screen', [2048, 1024]],
      [id, 'hires', [3000, 1500]],
      [small, 'col', [60, 60]],
      [small, 'hires', [90, 60]],
    ] as const)
      expect([key, (await variant(of, key)).shape]).toEqual([key, shape]);
  });

  // MEDIA-11
  test('is rendered for a text, which has no thumbhash', async () => {
    const asset = await shown(await rendered(plainText()));
    expect(asset).toMatchObject({ preview_available: true, thumbhash: null });
  });

  // ASSET-32
  test('shows a picture with EXIF rotation upright', async () => {
    const id = await rendered(await jpeg(80, 40, { orientation: 6 }));
    expect(await shown(id)).toMatchObject({ pixel_width: 40, pixel_height: 80 });
    const { shape, at } = await variant(id, 'preview');
    expect(shape).toEqual([40, 80]);
    // Rotated clockwise by 90°, the red left half is on top.
    expect(at(20, 5)[0]).toBeGreaterThan(180);
    expect(at(20, 75)[0]).toBeLessThan(60);
  });

  // MEDIA-25
  test('is rendered for pictures of every shape, and shows the first frame of animated ones', async () => {
    const pictures = {
      'cmyk jpeg': await cmykJpeg(40, 30),
      svg: svg(40, 30),
      'a line one pixel high': await png(2000, 1),
      'a line one pixel wide': await png(1, 2000),
      'a single pixel': await png(1, 1),
      'animated gif': await animatedGif(),
    };
    const ids: [string, string][] = [];
    for (const [name, bytes] of Object.entries(pictures)) ids.push([name, (await upload(mara, bytes)).id]);
    await library.runJobs();
    const ready = { processing_status: 'ready', ladder_available: true, preview_available: true };
    for (const [name, id] of ids) {
      const { format, at } = await variant(id, 'preview');
      expect([name, format, await shown(id)]).toEqual([name, 'webp', expect.objectContaining(ready)]);
      const [red = 0, green = 0] = at(0, 0);
      if (name === 'animated gif') expect([red > 200, green < 60]).toEqual([true, true]);
    }
  });

  test('stores basic EXIF, without values that PostgreSQL cannot store', async () => {
    const exif = { Make: 'Vitrine Optics', Model: 'V1\0', Artist: 'Mara Lindqvist', Copyright: '© Mara' };
    const { file_hash } = await upload(mara, await jpeg(30, 20, { exif }));
    await library.runJobs();
    const files = library.deps.db.selectFrom('files').select('exif');
    const known = { cameraMake: 'Vitrine Optics', cameraModel: 'V1', creator: 'Mara Lindqvist' };
    expect(await files.where('hash', '=', file_hash ?? '').execute()).toMatchObject([{ exif: known }]);
  });
});

describe('the render job', () => {
  // RUN-8
  test('is idempotent', async () => {
    const { id } = await upload(mara, await jpeg(50, 50, { seed: 12 }));
    await Promise.all([library.runJobs(), library.runJobs()]);
    const asset = await mara.ok('reprocessAsset', { params: { id } });
    expect(asset).toMatchObject({ processing_status: 'ready', ladder_available: true });
  });

  // MEDIA-9
  test('is retried if it cannot read its file, and finally fails', { tags: ['disk'] }, async () => {
    const { id, file_hash } = await upload(mara, await jpeg(50, 50, { seed: 13 }));
    await rm(objectPath(library, originalKey(file_hash ?? '')));
    const { pool } = library.database;
    const attempts = async () =>
      (await pool.query('select attempts from graphile_worker._private_jobs')).rows[0]?.attempts ?? 0;
    // The queue records a failure and the time of the next attempt a moment after the job ends.
    const tryAgain = async () => {
      await pool.query('update graphile_worker._private_jobs set run_at = now()');
      await library.runJobs();
      return attempts();
    };
    for (let done = 0; done < 5; done = await attempts()) {
      expect(await shown(id)).toMatchObject({ processing_status: 'pending' });
      await expect.poll(tryAgain).toBeGreaterThan(done);
    }
    expect(await shown(id)).toMatchObject({ processing_status: 'failed' });
  });
});
