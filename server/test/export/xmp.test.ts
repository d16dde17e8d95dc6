import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AssetRow, ExportedValue } from '../../src/operate/export/entries/asset-rows.ts';
import { xmpOf } from '../../src/operate/export/entries/xmp.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { scratchDirectory } from '../backup/kit.ts';
import { sharedMedia } from '../support/library.ts';

const value = (code: string, values: string[], path?: string[]): ExportedValue => ({
  code,
  label: code,
  type: 'text',
  source: code,
  values,
  ...(path === undefined ? {} : { path }),
});

const asset: AssetRow = {
  id: '00000000-0000-4000-8000-000000000001',
  is_alike: false,
  created_at: '2026-03-14T10:00:00Z',
  title: 'Boats <&> "dawn" 🐚',
  description: 'First line\r\nsecond \u0001line ]]> &amp;',
  file_name: 'boats.jpg',
  file_hash: 'a'.repeat(64),
  size_bytes: 1,
  tags: ['sea', 'Ünïcode, with comma'],
  values: [
    value('keywords', ['harbour', 'sea']),
    value('creator', ['Mara', 'Ines & Co']),
    value('copyright', ['© Mara']),
    value('credit', ['Agency']),
    value('rating', ['4']),
    value('label', ['Red']),
    value('people', ['Ada Lovelace', 'Kurt']),
    value('capture_datetime', ['2019-12-31T23:59:58+02:00']),
    value('city', ['Lisboa']),
    value('country', ['Portugal']),
    value('gps_coordinates', ['-38.716700, 9.133300']),
    value('place', ['Quay 4'], ['Harbour', 'Quay 4']),
    // A code that is a property of every object.
    value('constructor', ['<Mason>']),
  ],
  versions: [],
  subtitles: [],
  film: null,
};

// EXPORT-3
test('a sidecar is read back by ExifTool with equal values', async () => {
  const path = join(await scratchDirectory(), 'boats.jpg.xmp');
  await writeFile(path, xmpOf(asset));
  const read = await sharedMedia().metadata.read(path);
  if (read.outcome !== 'read') throw new Error(saySentence('en', read.reason));
  const values = Object.fromEntries(
    Object.entries(read.sources).map(([source, { value }]) => [source, value]),
  );
  expect(values).toMatchObject({
    title: 'Boats <&> "dawn" 🐚',
    creator: ['Mara', 'Ines & Co'],
    copyright: '© Mara',
    credit: 'Agency',
    rating: 4,
    label: 'Red',
    people: ['Ada Lovelace', 'Kurt'],
    capture_datetime: '2019-12-31T23:59:58+02:00',
    city: 'Lisboa',
    country: 'Portugal',
    gps_coordinates: '-38.716700, 9.133300',
  });
  expect(new Set(values.keywords as string[])).toEqual(
    new Set(['sea', 'Ünïcode, with comma', 'harbour', 'Quay 4']),
  );
  expect(String(values.description).replaceAll(/\s+/g, ' ')).toBe('First line second line ]]> &amp;');
  // Every field, also those without a property of their own.
  expect(JSON.stringify(read.raw)).toContain('Quay 4');
  expect(JSON.stringify(read.raw)).toContain('<Mason>');
});
