import { expect, test } from 'vitest';
import { fileOf } from './binary.ts';
import { pdf } from './documents.ts';
import { zip } from './packages.ts';
import { openStudio } from './still-kit.ts';

const studio = openStudio();

// MEDIA-40
test.each([
  ['a PDF', 'application/pdf', () => fileOf('HTTP/1.1 200 OK\r\nX: y\r\n\r\n', pdf(['One']))],
  ['a ZIP', 'application/zip', () => fileOf('a stub', new Uint8Array(500), zip({ 'a.txt': 'a' }))],
])('%s is recognised after other bytes, and read', async (_, type, make) => {
  const { mime, ladder, extras } = await studio.decode(make());
  expect(mime).toBe(type);
  expect(ladder.outcome === 'rendered' || extras.length > 0).toBe(true);
});
