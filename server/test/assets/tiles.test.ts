import { readdir } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { sql } from 'kysely';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { expectColour } from '../media/still-kit.ts';
import { requestAs } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

/** Wider than the largest rung of the ladder, in two colours, with a narrow green line at the right edge. */
async function panorama(width = 5000, height = 1200, transparent = false): Promise<Uint8Array<ArrayBuffer>> {
  const half = Math.floor(width / 2);
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="${half}" height="100%" fill="rgb(220,10,10)"/>
    <rect x="${half}" width="${half}" height="100%" fill="rgb(10,10,220)" opacity="${transparent ? 0 : 1}"/>
    <rect x="${width - 8}" width="8" height="100%" fill="rgb(10,220,10)"/></svg>`;
  const drawn = sharp(Buffer.from(drawing), { unlimited: true });
  const picture = transparent ? drawn : drawn.removeAlpha();
  return Uint8Array.from(await picture.png().toBuffer());
}

const library = await openLibrary();
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const { id, file_hash: hash } = await upload(owner, await panorama(), { sensitivity: 'restricted' });
await library.runJobs();

async function tilesOf(asset: string) {
  const { tiles } = await owner.ok('getAssetMedia', { params: { id: asset } });
  if (tiles === null) throw new Error('there are no tiles');
  return tiles;
}

async function pixelsOf(address: string) {
  const answer = await requestAs(owner, library, address);
  expect(answer.status).toBe(200);
  const bytes = await answer.bytes();
  expect(answer.headers.get('content-length')).toBe(String(bytes.length));
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [
    ...data.subarray((y * info.width + x) * info.channels).subarray(0, info.channels),
  ];
  return { width: info.width, height: info.height, at, type: answer.headers.get('content-type') };
}

describe('a picture larger than its ladder', () => {
  test('has Deep Zoom tiles at full resolution, described in its media', async () => {
    const cut = { tile_size: 510, overlap: 1, levels: 14, format: 'jpeg' };
    expect(await tilesOf(id)).toEqual({ width: 5000, height: 1200, ...cut });
    const last = await pixelsOf(`/assets/${id}/tiles/13/9_2`);
    // The last column begins one pixel early and has no neighbour on its right.
    const size = [5000 - 9 * 510 + 1, 1200 - 2 * 510 + 1];
    expect([last.width, last.height, last.type]).toEqual([...size, 'image/jpeg']);
    expectColour(last.at(last.width - 2, 10), [10, 220, 10]);
    expectColour(last.at(10, 10), [10, 10, 220]);
    expectColour((await pixelsOf(`/assets/${id}/tiles/13/0_0.jpeg`)).at(5, 5), [220, 10, 10]);
  });

  // MEDIA-13
  test('has every tile of every level, each half as large as the one above', async () => {
    const { width, height, levels, tile_size } = await tilesOf(id);
    for (let level = 0; level < levels; level += 1) {
      const scale = 2 ** (levels - 1 - level);
      const [wide, high] = [Math.ceil(width / scale), Math.ceil(height / scale)];
      const columns = Math.ceil(wide / tile_size);
      const rows = Math.ceil(high / tile_size);
      const corner = await owner.send(`/assets/${id}/tiles/${level}/${columns - 1}_${rows - 1}`);
      expect(corner.status).toBe(200);
      for (const beyond of [`${columns}_0`, `0_${rows}`])
        expect(await owner.status('GET', `/assets/${id}/tiles/${level}/${beyond}`)).toBe(404);
    }
    const single = await pixelsOf(`/assets/${id}/tiles/0/0_0`);
    expect([single.width, single.height]).toEqual([1, 1]);
  });

  // MEDIA-13
  test('serves no other tiles, and none to callers without access to the bytes', async () => {
    const levels = ['14/0_0', '-1/0_0', 'x/0_0', '1.5/0_0'];
    for (const tile of [...levels, '13/0', '13/0_0.gif', '13/-1_0', '13/999999_0'])
      expect([tile, await owner.status('GET', `/assets/${id}/tiles/${tile}`)]).toEqual([tile, 404]);
    expect(await stranger.status('GET', `/assets/${id}/tiles/13/0_0`)).toBe(404);
  });

  test('stores its tiles in one object, which is not served as a whole', async () => {
    const { variants } = await owner.ok('getAssetMedia', { params: { id } });
    expect(variants.map(({ key }) => key)).not.toContain('tiles');
    expect((await owner.send(`/assets/${id}/variants/tiles`)).status).toBe(404);
    expect(await readdir(library.deps.storage.incomingDir)).toEqual([]);
  });

  test('is cacheable by browsers at a URL with the hash', async () => {
    const tile = (rest: string, headers = {}) => owner.send(`/assets/${id}/tiles/13/${rest}`, { headers });
    const kept = await tile(`1_1?v=${hash}`);
    expect(kept.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    const asked = await tile('1_1');
    expect(asked.headers.get('cache-control')).toBe('private, no-cache');
    const known = { 'if-none-match': asked.headers.get('etag') ?? '' };
    expect([(await tile('1_1', known)).status, (await tile('2_1', known)).status]).toEqual([304, 200]);
  });

  test('renders damaged tiles again when it is reprocessed', async () => {
    const { db, storage } = library.deps;
    const { rows } = await sql<{ object: string }>`
      select renditions -> 'tiles' ->> 'object' as object from files where hash = ${hash}`.execute(db);
    await storage.delete(rows[0]?.object ?? '');
    await owner.ok('reprocessAsset', { params: { id } });
    await library.runJobs();
    expect((await owner.send(`/assets/${id}/tiles/13/0_0`)).status).toBe(200);
  });
});

// MEDIA-16
test('tiles are upright, and are rendered at the lowest priority, so that previews are not delayed', async () => {
  const asset = await upload(owner, await jpeg(4200, 600, { orientation: 6 }));
  await library.runJobs();
  const [pid] = library.deps.decoders.pids('tiles');
  expect(getPriority(pid ?? 0)).toBe(19);
  const { width, height, levels } = await tilesOf(asset.id);
  expect([width, height]).toEqual([600, 4200]);
  const last = `/assets/${asset.id}/tiles/${levels - 1}`;
  expectColour((await pixelsOf(`${last}/0_0`)).at(5, 5), [220, 12, 12]);
  expectColour((await pixelsOf(`${last}/0_8`)).at(5, 5), [12, 12, 220], 11);
});

test('tiles keep the transparency of the picture', async () => {
  const asset = await upload(owner, await panorama(4500, 30, true));
  await library.runJobs();
  const { levels, ...tiles } = await tilesOf(asset.id);
  expect(tiles).toMatchObject({ format: 'webp', width: 4500 });
  const { at, type } = await pixelsOf(`/assets/${asset.id}/tiles/${levels - 1}/7_0`);
  expect([type, at(0, 0)[3]]).toEqual(['image/webp', 0]);
});

// MEDIA-13
test('a picture no larger than its ladder has no tiles', async () => {
  const small = await upload(owner, await jpeg(90, 60));
  await library.runJobs();
  expect((await owner.ok('getAssetMedia', { params: { id: small.id } })).tiles).toBeNull();
  expect(await owner.status('GET', `/assets/${small.id}/tiles/0/0_0`)).toBe(404);
});
