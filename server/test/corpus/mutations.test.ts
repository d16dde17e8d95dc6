import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cloneTemplate } from '../support/clone.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { runCampaign } from './campaign.ts';
import { corpus } from './files.ts';
import { mutate, mutationNames, seeded } from './mutations.ts';

describe('mutations', () => {
  const hashesOf = async (seed: number) => {
    const bytes = await jpeg(64, 48);
    const specimen = { name: 'a.jpg', bytes, other: { name: 'b.txt', bytes: plainText('other') } };
    return mutationNames.map((_, index) =>
      createHash('sha256')
        .update(mutate(specimen, index, seeded(seed)).bytes)
        .digest('hex'),
    );
  };

  test('are deterministic per seed and differ from the original and each other', async () => {
    const hashes = await hashesOf(7);
    expect(await hashesOf(7)).toEqual(hashes);
    const original = createHash('sha256')
      .update(await jpeg(64, 48))
      .digest('hex');
    expect(new Set([...hashes, original]).size).toBe(mutationNames.length + 1);
    expect(await hashesOf(8)).not.toEqual(hashes);
  });
});

/** `npm run mutate` sends a thousand and more. */
// HTTP-36, MEDIA-7
test('damaged files of all types never cause an internal error', async () => {
  const database = await cloneTemplate();
  try {
    const { faults, types } = await runCampaign({
      databaseUrl: database.url,
      corpus: corpus.filter(({ name }) => !name.startsWith('film.') || name === 'film.mp4'),
      files: 28,
      seed: 20,
      together: true,
    });
    expect(faults).toEqual([]);
    const outcomes = Object.values(types[0]?.outcomes ?? {}).reduce((sum, count) => sum + count, 0);
    expect(outcomes).toBe(28);
  } finally {
    await database.drop();
  }
});
