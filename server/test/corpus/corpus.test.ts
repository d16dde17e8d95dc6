import { describe, expect, test } from 'vitest';
import { defaultLadder } from '../../src/media/ladder.ts';
import { sniff } from '../../src/media/sniff.ts';
import { openStudio } from '../media/still-kit.ts';
import { plainText } from '../support/pictures.ts';
import { corpus } from './files.ts';
import { mutate, seeded } from './mutations.ts';

// Only machines with LibreOffice or Ghostscript draw these; others show an icon.
const studio = openStudio({ ffmpeg: 'off', libreoffice: 'off', ghostscript: 'off' });

// video.test.ts and model.test.ts draw the others, and raster.test.ts other pictures of the same formats.
const elsewhere =
  /^(?:film\.(?:mp4|mov|ts|webm)|silent\.mp4|song\.(?:wav|aiff|flac|m4a)|ring\.(?:glb|stl)|progressive\.jpg)$/;
const shownHere = corpus.filter(({ name }) => !elsewhere.test(name));
// video.test.ts damages films, and `npm run mutate` sends thousands of files of every kind to a service.
const damagedHere = shownHere.filter(({ name }) => !/^(?:film|song)\./.test(name));

describe('every file of the corpus', () => {
  test('has its own name, and there are at least 40', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  });

  // MEDIA-1, MEDIA-3
  test.each(shownHere)(
    'is recognised by its bytes and shown by its $shown: $name',
    async ({ shown, make }) => {
      const { ladder, extras } = await studio.decode(await make(), undefined, defaultLadder.slice(0, 1));
      const isListed = extras.some(({ key }) => key === 'contents.json');
      expect([ladder.outcome, isListed]).toEqual([
        shown === 'picture' ? 'rendered' : 'unsupported',
        shown === 'list',
      ]);
    },
  );

  // MEDIA-7
  test.each(damagedHere.entries().toArray())(
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
