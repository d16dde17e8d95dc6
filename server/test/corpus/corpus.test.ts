import { describe, expect, test } from 'vitest';
import { defaultLadder } from '../../src/media/ladder.ts';
import { sniff } from '../../src/media/sniff.ts';
import { openStudio } from '../media/still-kit.ts';
import { plainText } from '../support/pictures.ts';
import { corpus } from './files.ts';
import { mutate, seeded } from './mutations.ts';

// Only machines with LibreOffice or Ghostscript draw these; others show an icon.
const studio = openStudio({ ffmpeg: 'off', libreoffice: 'off', ghostscript: 'off' });

describe('every kind of file', () => {
  test('is one of at least 40', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  });

  // MEDIA-1, MEDIA-3
  test.each(corpus)('is recognised by its bytes and shown by its $shown: $name', async ({ shown, make }) => {
    const { ladder, extras } = await studio.decode(await make(), undefined, defaultLadder.slice(0, 1));
    const isListed = extras.some(({ key }) => key === 'contents.json');
    expect([ladder.outcome, isListed]).toEqual([
      shown === 'picture' ? 'rendered' : 'unsupported',
      shown === 'list',
    ]);
  });

  // video.test.ts damages films, and `npm run mutate` sends thousands of files of every kind to a service.
  const others = corpus.filter(({ name }) => !/^(film|song|silent)\./.test(name));
  // MEDIA-7
  test.each(others.entries().toArray())(
    'is rendered or refused when it is damaged, never an internal error (%i)',
    async (index, { name, make }) => {
      const original = await make();
      // Decoded as what it was, because most damage hides the type.
      const { mime } = await sniff((await studio.place(original)).path);
      const other = { name: 'other.txt', bytes: plainText() };
      const { bytes } = mutate({ name, bytes: original, other }, index, seeded(index));
      const outcome = /^\S+ (?:rendered$|broken: |unsupported: |stopped: )/;
      expect(`${name} ${await studio.outcomeOf(bytes, mime)}`).toMatch(outcome);
    },
  );
});
