import { rm } from 'node:fs/promises';
import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio } from 'thumbhash';
import { beforeAll, describe, expect, test } from 'vitest';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';
import { animatedGif, cmykJpeg, jpeg, png, svg, tiff, webp } from '../support/pictures.ts';

let library: Library;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
});

async function rendered(bytes: Uint8Array<ArrayBuffer>) {
  const { id } = await upload(mara, bytes);
  await library.runJobs();
  const asset = await mara.ok('getAsset', { params: { id } });
  if (asset.restricted) throw new Error('withheld from its owner');
  return asset;
}

async function variant(id: string, key: string): Promise<Buffer> {
  const response = await fetch(`${library.address}/api/v1/assets/${id}/variants/${key}`, {
    headers: { cookie: `user=${mara.cookie()}` },
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function shape(id: string, key: string): Promise<[number, number]> {
  const { width, height } = await sharp(await variant(id, key)).metadata();
  return [width, height];
}

describe('the preview ladder', () => {
  // MEDIA-2
  test('keeps the aspect ratio, crops the square, and never enlarges', async () => {
    const { id, pixel_width, pixel_height } = await rendered(await jpeg(3000, 1500));
    expect([pixel_width, pixel_height]).toEqual([3000, 1500]);
    expect(await shape(id, 'col')).toEqual([320, 320]);
    expect(await shape(id, 'preview')).toEqual([1024, 512]);
    expect(await shape(id, 'screen')).toEqual([2048, 1024]);
    expect(await shape(id, 'hires')).toEqual([3000, 1500]);
    const small = await rendered(await png(90, 60));
    expect(await shape(small.id, 'col')).toEqual([60, 60]);
    expect(await shape(small.id, 'hires')).toEqual([90, 60]);
  });

  // ASSET-32
  test('shows a picture with EXIF rotation upright', async () => {
    const { id, pixel_width, pixel_height } = await rendered(await jpeg(800, 400, { orientation: 6 }));
    expect([pixel_width, pixel_height]).toEqual([400, 800]);
    expect(await shape(id, 'preview')).toEqual([400, 800]);
    // Rotated clockwise by 90°, the red left half is on top.
    const { data, info } = await sharp(await variant(id, 'preview'))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const top = data[(50 * info.width + 200) * info.channels] ?? 0;
    const bottom = data[(750 * info.width + 200) * info.channels] ?? 0;
    expect(top).toBeGreaterThan(180);
    expect(bottom).toBeLessThan(60);
  });

  test.each([
    ['png', () => png(400, 300)],
    ['webp', () => webp(400, 300)],
    ['tiff', () => tiff(400, 300)],
    ['cmyk jpeg', () => cmykJpeg(400, 300)],
    ['animated gif', () => animatedGif()],
    ['svg', async () => svg(400, 300)],
    ['a line one pixel high', () => png(2000, 1)],
    ['a line one pixel wide', () => png(1, 2000)],
    ['a single pixel', () => png(1, 1)],
  ])('is rendered for %s', async (_, make) => {
    const asset = await rendered(await make());
    expect(asset).toMatchObject({
      processing_status: 'ready',
      ladder_available: true,
      preview_available: true,
    });
    expect((await sharp(await variant(asset.id, 'preview')).metadata()).format).toBe('webp');
  });

  test('shows the first frame of an animated picture', async () => {
    const { id } = await rendered(await animatedGif());
    const { data } = await sharp(await variant(id, 'preview'))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([(data[0] ?? 0) > 200, (data[1] ?? 255) < 60]).toEqual([true, true]);
  });

  // MEDIA-11
  test('includes a thumbhash with the right aspect ratio, of about 30 bytes', async () => {
    const { thumbhash } = await rendered(await jpeg(1000, 500, { seed: 77 }));
    const hash = Buffer.from(thumbhash ?? '', 'base64');
    expect(hash.length).toBeGreaterThan(10);
    expect(hash.length).toBeLessThan(40);
    expect(thumbHashToApproximateAspectRatio(hash)).toBeCloseTo(2, 0);
  });

  test('stores basic EXIF, without values that PostgreSQL cannot store', async () => {
    const exif = { Make: 'Vitrine Optics', Model: 'V1\0', Artist: 'Mara Lindqvist', Copyright: '© Mara' };
    const { file_hash } = await rendered(await jpeg(300, 200, { exif, seed: 3 }));
    const row = await library.deps.db
      .selectFrom('files')
      .select('exif')
      .where('hash', '=', file_hash ?? '')
      .executeTakeFirstOrThrow();
    expect(row.exif).toMatchObject({
      cameraMake: 'Vitrine Optics',
      cameraModel: 'V1',
      creator: 'Mara Lindqvist',
    });
  });
});

describe('the render job', () => {
  // RUN-8
  test('is idempotent', async () => {
    const { id } = await upload(mara, await jpeg(500, 500, { seed: 12 }));
    await Promise.all([library.runJobs(), library.runJobs()]);
    const asset = await mara.ok('reprocessAsset', { params: { id } });
    expect(asset).toMatchObject({ processing_status: 'ready', ladder_available: true });
  });

  // MEDIA-9
  test('is retried if it cannot read its file, and finally fails', async () => {
    const { id, file_hash } = await upload(mara, await jpeg(500, 500, { seed: 13 }));
    const path = objectPath(library, originalKey(file_hash ?? ''));
    await rm(path);
    const state = async () => {
      const asset = await mara.ok('getAsset', { params: { id } });
      return asset.restricted ? 'withheld' : asset.processing_status;
    };
    const attempts = async () => {
      const { rows } = await library.database.pool.query(
        'select attempts from graphile_worker._private_jobs',
      );
      return rows[0]?.attempts ?? 0;
    };
    // The queue records a failure and the time of the next attempt a moment after the job ends.
    const tryAgain = async () => {
      await library.database.pool.query('update graphile_worker._private_jobs set run_at = now()');
      await library.runJobs();
      return attempts();
    };
    for (let done = 0; done < 5; done = await attempts()) {
      expect(await state()).toBe('pending');
      await expect.poll(tryAgain, { timeout: 10_000 }).toBeGreaterThan(done);
    }
    expect(await state()).toBe('failed');
  });
});
