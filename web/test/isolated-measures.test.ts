import { afterEach, describe, expect, test, vi } from 'vitest';
import { fileSize, pixelSize } from '../src/lib/assets/file-size.ts';
import { dayOf, shortMomentOf } from '../src/lib/time/moments.ts';
import { placeName } from '../src/lib/viewer/place.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const readIn = (language: string) => {
  vi.stubGlobal('document', { documentElement: { lang: language } });
  vi.stubGlobal('navigator', { languages: [language] });
};

// LANGUAGE-1
describe('in a text that is written from right to left', () => {
  test('sizes in pixels are written from left to right, and places keep their own direction', () => {
    readIn('ar');
    expect(pixelSize(1500, 1000)).toBe('\u20661500 × 1000\u2069');
    expect(placeName({ latitude: 48.137, longitude: 11.576 }, 2)).toBe('\u206848.14° N, 11.58° E\u2069');
  });

  test('dates and sizes of files keep their own direction', () => {
    readIn('he');
    expect(dayOf('2026-05-03T12:00:00Z')).toMatch(/^\u2068.*2026\u2069$/);
    expect(fileSize(4_200_000)).toMatch(/^\u2068.*4\.2.*\u2069$/);
  });

  test('the half of the day stays on the line of its hour', () => {
    readIn('ar');
    expect(shortMomentOf('2026-05-03T14:05:00Z')).toMatch(/\d\u00a0[صم]\u2069$/);
  });

  test('they are plain text in other languages', () => {
    readIn('de');
    expect(placeName({ latitude: 48.137, longitude: -11.576 }, 2)).toBe('48,14° N, 11,58° W');
    expect(pixelSize(1500, 1000)).toBe('1500 × 1000');
    expect(fileSize(4_200_000)).toBe('4,2 MB');
  });
});
