import type { ShownAsset } from '@vitrine/contract/assets';
import { rgbaToThumbHash } from 'thumbhash';
import { describe, expect, it } from 'vitest';
import { fitInside } from '#lib/assets/fit.ts';
import { createPlaceholders } from '#lib/assets/placeholder.ts';
import { sourceAt, sourcesOf, squareOf, usualLadder } from '#lib/assets/renditions.ts';
import { coverOf } from '#lib/posts/cover.ts';
import { pendingCovers, withFreshAssets } from '#lib/posts/refreshed.ts';
import { assetOf, postOf } from './samples.ts';

const addressOf = (id: string, key: string, hash: string | null) => `/${id}/${key}?v=${hash}`;
const picture = (width: number, height: number): ShownAsset =>
  assetOf('a', { pixel_width: width, pixel_height: height });

const at = (pixels: number, of = picture(6000, 4000), largest?: number) =>
  sourceAt(pixels, of, usualLadder, addressOf, largest);

it('the source at a width is the smallest picture that is sharp, or the largest', () => {
  expect(at(300)).toEqual({ src: '/a/preview?v=h', srcset: '' });
  const sources = [1100, 1500, 9000].map((pixels) => at(pixels)?.src);
  expect(sources).toEqual(['/a/preview?v=h', '/a/screen?v=h', '/a/hires?v=h']);
  expect(at(9000, picture(6000, 4000), 2048)?.src).toBe('/a/screen?v=h');
  expect(at(500, { ...picture(1, 1), pixel_width: null })?.src).toBe('/a/preview?v=h');
  expect(at(500, { ...picture(1, 1), ladder_available: false })).toBeUndefined();
});

describe('sourcesOf', () => {
  it('lists every rung with its actual width', () => {
    expect(sourcesOf(picture(6000, 4000), usualLadder, addressOf)).toEqual({
      src: '/a/preview?v=h',
      srcset: '/a/preview?v=h 1024w, /a/screen?v=h 2048w, /a/hires?v=h 4096w',
    });
    expect(sourcesOf(picture(4000, 6000), usualLadder, addressOf)?.srcset).toContain('/a/screen?v=h 1365w');
  });

  it('leaves out rungs that hold the same pixels, and those above the limit', () => {
    expect(sourcesOf(picture(1500, 1000), usualLadder, addressOf)?.srcset).toBe(
      '/a/preview?v=h 1024w, /a/screen?v=h 1500w',
    );
    expect(sourcesOf(picture(640, 480), usualLadder, addressOf)?.srcset).toBe('/a/preview?v=h 640w');
    expect(sourcesOf(picture(6000, 4000), usualLadder, addressOf, 2048)?.srcset).not.toContain('hires');
    expect(sourcesOf(picture(6000, 4000), usualLadder, addressOf, 10)?.src).toBe('/a/preview?v=h');
  });

  it('is empty while no preview is available', () => {
    const pending = { ...picture(600, 400), ladder_available: false, preview_available: false };
    expect(sourcesOf(pending, usualLadder, addressOf)).toBeUndefined();
    expect(squareOf(pending, usualLadder, addressOf)).toBeUndefined();
    expect(sourcesOf(picture(600, 400), [], addressOf)).toBeUndefined();
    expect(squareOf(picture(600, 400), usualLadder, addressOf)).toBe('/a/col?v=h');
  });
});

it('a picture that is fitted keeps its shape, fits the room and is never enlarged', () => {
  const fit = (width: number | null, height: number | null, room: number) => {
    const fitted = fitInside({ width, height }, { width: 900, height: room });
    return [fitted.width, fitted.height];
  };
  expect(fit(6000, 4000, 900)).toEqual([900, 600]);
  expect(fit(1000, 4000, 800)).toEqual([200, 800]);
  expect(fit(64, 48, 800)).toEqual([64, 48]);
  expect(fit(null, null, 800)).toEqual([800, 800]);
});

it('a thumbhash is rendered and cached, and an invalid one is ignored', () => {
  const draw = createPlaceholders(1);
  const hash = rgbaToThumbHash(2, 1, [255, 0, 0, 255, 0, 0, 255, 255]);
  const text = btoa(String.fromCharCode(...hash));
  expect(draw(text)).toMatch(/^data:image\/png;base64,/);
  expect(draw(text)).toBe(draw(text));
  expect(draw(null)).toBeUndefined();
  expect(draw('***')).toBeUndefined();
});

describe('covers', () => {
  const post = postOf([assetOf('a'), assetOf('b', { processing_status: 'pending' })], { title: ' ' });

  it('is the chosen member, else the first', () => {
    expect(coverOf(post)?.asset_id).toBe('a');
    expect(coverOf({ ...post, cover_asset_id: 'b' })?.asset_id).toBe('b');
    expect(coverOf({ ...post, cover_asset_id: 'gone' })?.asset_id).toBe('a');
  });

  it('is requested again only while it is pending', () => {
    const waiting = { ...post, cover_asset_id: 'b' };
    expect(pendingCovers([post, waiting, waiting], 10)).toEqual(['b']);
    const fresh = withFreshAssets(waiting, new Map([['b', assetOf('b')]]));
    expect(pendingCovers([fresh], 10)).toEqual([]);
    expect(withFreshAssets(post, new Map([['z', assetOf('z')]]))).toBe(post);
  });
});
