import { expect, test } from 'vitest';
import { cloneTemplate } from '../support/clone.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { runCampaign } from './campaign.ts';
import { corpus } from './files.ts';
import { mutate, mutationNames, seeded } from './mutations.ts';

test('mutations are the same for a seed, and differ from the original and each other', async () => {
  const bytes = await jpeg(64, 48);
  const specimen = { name: 'a.jpg', bytes, other: { name: 'b.txt', bytes: plainText('other') } };
  const mutants = (seed: number) =>
    mutationNames.map((_, index) => Buffer.from(mutate(specimen, index, seeded(seed)).bytes).toString('hex'));
  expect(mutants(7)).toEqual(mutants(7));
  expect(mutants(8)).not.toEqual(mutants(7));
  const all = new Set([...mutants(7), Buffer.from(bytes).toString('hex')]);
  expect(all.size).toBe(mutationNames.length + 1);
});

/** Damaged files that are sent to a service; `npm run mutate` sends a thousand and more. */
const FILES = 8;

// HTTP-36, MEDIA-7
test('damaged files of all types never cause an internal error', async () => {
  const database = await cloneTemplate();
  try {
    const { faults, types } = await runCampaign({
      databaseUrl: database.url,
      corpus: corpus.filter(({ name }) => !name.startsWith('film.') || name === 'film.mp4'),
      files: FILES,
      seed: 20,
      together: true,
    });
    expect(faults).toEqual([]);
    const outcomes = Object.values(types[0]?.outcomes ?? {}).reduce((sum, count) => sum + count, 0);
    expect(outcomes).toBe(FILES);
  } finally {
    await database.drop();
  }
});
