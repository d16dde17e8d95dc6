import { BoxGeometry, BufferAttribute, Group, Mesh } from 'three';
import { describe, expect, it } from 'vitest';
import { readContents } from '#lib/viewer/archive.ts';
import { clock } from '#lib/viewer/clock.ts';
import type { ViewerMedia } from '#lib/viewer/item.ts';
import { computeEmptyNormals } from '#lib/viewer/normals.ts';
import { placeAmong } from '#lib/viewer/place.ts';
import { isPlayable, playerBox } from '#lib/viewer/plays.ts';
import { keepPosition, positionOf } from '#lib/viewer/resume.ts';
import { readSprites, spriteAt } from '#lib/viewer/sprites.ts';
import { isTall, levelFor, levelsOf, neededProgram, pagesOf, stageOf } from '#lib/viewer/stage.ts';

function media(mime: string, kind: ViewerMedia['kind'], ...keys: string[]): ViewerMedia {
  const variants = keys.map((key) => ({ key, type: 'image/webp', bytes: 1, width: 800, height: 600 }));
  return { mime, kind, facts: {}, variants };
}

describe('how a file is shown', () => {
  it.each([
    ['image', media('image/jpeg', 'image', 'col', 'preview'), true],
    ['image', media('image/vnd.adobe.photoshop', 'image', 'preview'), false],
    ['video', media('video/mp4', 'video', 'poster'), true],
    ['video', media('video/x-matroska', 'video', 'poster', 'hls/master.m3u8'), false],
    ['image', media('video/mp4', 'video', 'poster', 'preview'), false],
    ['audio', media('audio/flac', 'audio', 'audio.m4a'), false],
    ['pages', media('application/pdf', 'document', 'preview', 'page-1'), true],
    ['pages', media('image/tiff', 'image', 'preview', 'page-1', 'page-2'), true],
    ['image', media('image/tiff', 'image', 'preview', 'page-1'), true],
    ['text', media('text/markdown', 'document', 'preview', 'text.html'), true],
    ['model', media('model/stl', 'model', 'preview', 'model.glb'), false],
    ['model', media('model/gltf-binary', 'model', 'preview'), true],
    ['font', media('font/woff2', 'font', 'preview'), true],
    ['image', media('font/woff2', 'font', 'preview'), false],
    ['archive', media('application/zip', 'other', 'contents.json'), true],
    ['file', media('application/x-blender', 'other'), true],
  ] as const)('%s: %j', (stage, its, hasOriginal) => {
    expect(stageOf(its, hasOriginal)).toBe(stage);
  });

  it.each([
    ['application/msword', 'LibreOffice'],
    ['application/vnd.oasis.opendocument.text', 'LibreOffice'],
    ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'LibreOffice'],
    ['application/postscript', 'Ghostscript'],
  ])('names the program that the server needs for %s: %s', (mime, program) => {
    expect(neededProgram(mime)).toContain(program);
  });

  it('names no program for other files', () => {
    expect(neededProgram('application/x-blender')).toBeUndefined();
  });

  it('lists pages by their numbers', () => {
    const pages = pagesOf(media('application/pdf', 'document', 'page-10', 'page-2', 'preview', 'page-1'));
    expect(pages.map(({ key }) => key)).toEqual(['page-1', 'page-2', 'page-10']);
  });
});

describe('the sizes of a picture', () => {
  const variants = [
    { key: 'col', type: 'image/webp', bytes: 1, width: 320, height: 320 },
    { key: 'preview', type: 'image/webp', bytes: 1, width: 1024, height: 683 },
    { key: 'screen', type: 'image/webp', bytes: 1, width: 2048, height: 1365 },
    { key: 'page-1', type: 'image/webp', bytes: 1, width: 1500, height: 1000 },
  ];
  const address = { variant: (key: string) => key, original: 'original' };
  const facts = { kind: 'image', facts: {}, variants } as const;

  it('are the rungs of its shape, and the original if browsers can display it', () => {
    const urls = (mime: string, size: { width: number; height: number }) =>
      levelsOf({ mime, ...facts }, size, address).map(({ url }) => url);
    expect(urls('image/jpeg', { width: 6000, height: 4000 })).toEqual(['preview', 'screen', 'original']);
    expect(urls('image/tiff', { width: 6000, height: 4000 })).toEqual(['preview', 'screen']);
    expect(urls('image/jpeg', { width: 60_000, height: 40_000 })).toEqual(['preview', 'screen']);
  });

  it('are chosen by the available space', () => {
    const levels = levelsOf({ mime: 'image/jpeg', ...facts }, { width: 6000, height: 4000 }, address);
    expect(levelFor(levels, { width: 390, height: 844 })?.url).toBe('preview');
    expect(levelFor(levels, { width: 1440, height: 900 })?.url).toBe('screen');
    expect(levelFor(levels, { width: 9000, height: 9000 })?.url).toBe('original');
    expect(isTall({ width: 700, height: 4200 })).toBe(true);
    expect(isTall({ width: 600, height: 900 })).toBe(false);
  });
});

describe('scrubbing', () => {
  it('finds the scrub preview of a second', () => {
    const text =
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nsprites.jpg#xywh=0,0,192,108\n\n00:00:02.000 --> 01:00:04.000\nsprites.jpg#xywh=192,0,192,108\n';
    const sprites = readSprites(text);
    expect(sprites[1]).toEqual({ from: 2, to: 3604, x: 192, y: 0, width: 192, height: 108 });
    expect([1, 2, 9999].map((second) => spriteAt(sprites, second)?.x)).toEqual([0, 192, 192]);
    expect(readSprites('nonsense')).toEqual([]);
  });

  it('remembers the position of a video, except at its start and end', () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    keepPosition(storage, 'a', 61.27, 120);
    keepPosition(storage, 'b', 2, 120);
    expect([positionOf(storage, 'a'), positionOf(storage, 'b')]).toEqual([61.3, 0]);
    keepPosition(storage, 'a', 119, 120);
    expect(positionOf(storage, 'a')).toBe(0);
    kept.set('vitrine:positions', '{broken');
    expect(positionOf(storage, 'a')).toBe(0);
  });

  it('formats times as players do', () => {
    expect([0, 65.9, 3723, Number.NaN].map(clock)).toEqual(['0:00', '1:05', '1:02:03', '0:00']);
  });
});

it('reads the list of an archive and ignores invalid entries', () => {
  const file = { path: 'a/b.txt', size_bytes: 3, modified_at: '2026-05-03T10:00:00Z' };
  const entries = [file, { path: 'c' }, { size_bytes: 1 }, null];
  expect(readContents({ entries, truncated: true })).toEqual({
    entries: [
      { path: 'a/b.txt', bytes: 3, modified: '2026-05-03T10:00:00Z' },
      { path: 'c', bytes: undefined, modified: undefined },
    ],
    isCut: true,
  });
  for (const other of [null, [], 'x', { entries: 3 }]) expect(readContents(other)).toBeUndefined();
});

it('finds a place only in valid coordinates', () => {
  const others = ['Kiel', '91, 10', '10', '10, 181', ''].map((value_text) => ({ value_text }));
  expect(placeAmong([{}, ...others])).toBeUndefined();
  const place = { value_text: '54.321000, -10.134000' };
  expect(placeAmong([...others, place])).toEqual({ latitude: 54.321, longitude: -10.134 });
});

const box = (length: number) => {
  const geometry = new BoxGeometry();
  const normals = new Float32Array(geometry.getAttribute('position').count * 3).fill(length);
  return geometry.setAttribute('normal', new BufferAttribute(normals, 3));
};

it('normals of a model are computed from the faces if all are empty', () => {
  const [empty, given] = [new Mesh(box(0)), new Mesh(box(0.5))];
  const group = new Group().add(empty, given);
  computeEmptyNormals(group);
  const normals = [...empty.geometry.getAttribute('normal').array];
  // A box of twelve triangles, whose first faces +x.
  expect(normals).toHaveLength(36 * 3);
  expect(normals.slice(0, 3).map(Math.abs)).toEqual([1, 0, 0]);
  expect(given.geometry.getAttribute('normal').getX(0)).toBe(0.5);
});

describe('a player in a page', () => {
  it.each([
    ['mp4', true],
    ['OPUS', true],
    ['ts', true],
    ['jpg', false],
    [null, false],
  ] as const)('a file with the extension %s may play: %s', (file_extension, plays) => {
    expect(isPlayable({ file_extension })).toBe(plays);
  });

  it.each([
    [1920, 1080, { width: 390, height: 303 }, { width: 390, height: 303 }],
    [1080, 1920, { width: 390, height: 604 }, { width: 360, height: 604 }],
    [320, 180, { width: 900, height: 800 }, { width: 900, height: 590 }],
    [null, null, { width: 320, height: 400 }, { width: 320, height: 264 }],
  ])('of %j × %j in %j is %j', (pixel_width, pixel_height, room, box) => {
    expect(playerBox('video', { pixel_width, pixel_height }, room)).toEqual(box);
  });
});
