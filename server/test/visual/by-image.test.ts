import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { startEncoder } from '../support/encoder.ts';
import { formOf, openLibrary, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { altered, scene } from './scenes.ts';

/** The access matrix covers who finds which pictures (SEARCH-16). */

const assets: string[] = [];

const encoder = await startEncoder();
const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
const [mara, stranger] = await library.joinAll('mara', 'stranger');
for (let seed = 1; seed <= 5; seed += 1) assets.push((await upload(mara, await scene(seed))).id);
await runJobs();

afterAll(() => encoder.stop());

/** Renders new pictures, and then encodes them. */
async function runJobs(): Promise<void> {
  await library.runJobs();
  await library.runJobs();
}

const assetOf = (seed: number): string => assets[seed - 1] ?? '';

/** Returns a form without a file. */
function fieldsOnly(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

async function search(visitor: Visitor, body: FormData) {
  const { items } = await visitor.ok('searchByImage', { body });
  return items.map(({ asset, distance }) => ({ id: asset.id, distance }));
}

describe('POST /search/by-image', () => {
  test.each(['small', 'bright', 'cropped', 'grey'] as const)(
    'finds the picture a %s copy was made of, first of all',
    async (how) => {
      for (const seed of [1, 4]) {
        const found = await search(stranger, formOf(await altered(await scene(seed), how)));
        expect(found[0]?.id).toBe(assetOf(seed));
        expect(found[0]?.distance).toBeLessThan(found[1]?.distance ?? 0);
      }
    },
  );

  // SEARCH-16
  test('returns distances in ascending order with three decimals, and does not store the query', async () => {
    const stored = async () => {
      const { rows } = await sql`select (select count(*) from files) as files,
        (select count(*) from picture_vectors) as vectors`.execute(library.deps.db);
      return rows;
    };
    const before = await stored();
    const found = await search(stranger, formOf(await scene(2)));
    expect(found).toHaveLength(5);
    expect(found[0]).toEqual({ id: assetOf(2), distance: 0 });
    const distances = found.map(({ distance }) => distance);
    expect(distances).toEqual(distances.toSorted((a, b) => a - b));
    expect(distances.map((distance) => Number(distance.toFixed(3)))).toEqual(distances);
    await search(stranger, formOf(await scene(99)));
    expect(await stored()).toEqual(before);
  });

  test('takes an asset in place of a file, in a form or as JSON, and leaves it out of the answer', async () => {
    const byForm = await search(stranger, fieldsOnly({ asset_id: assetOf(3) }));
    const { items } = await stranger.ok('searchByImage', { body: { asset_id: assetOf(3) } });
    expect(byForm.map(({ id }) => id).sort()).toEqual(assets.filter((id) => id !== assetOf(3)).sort());
    expect(items.map(({ asset }) => asset.id)).toEqual(byForm.map(({ id }) => id));
    expect(await search(stranger, formOf(await scene(1), { limit: '3' }))).toHaveLength(3);
  });

  // SEARCH-16
  test('is not affected by what is withheld', async () => {
    const bytes = await scene(70);
    const before = await search(stranger, formOf(bytes));
    for (const how of ['bright', 'grey', 'small'] as const)
      await upload(mara, await altered(bytes, how), { sensitivity: 'restricted' });
    await runJobs();
    expect(await search(stranger, formOf(bytes))).toEqual(before);
    expect(await search(mara, formOf(bytes))).toHaveLength(8);
  });

  // SEARCH-18
  test('refuses a query without a valid picture or asset, one with both, and unknown fields', async () => {
    const picture = await scene(1);
    const two = formOf(picture);
    two.append('file', new Blob([await scene(2)]), 'b.jpg');
    const elsewhere = new FormData();
    elsewhere.append('picture', new Blob([picture]), 'a.jpg');
    const text = (content: string) => formOf(new TextEncoder().encode(content));
    const bodies: Record<string, [FormData, number]> = {
      nothing: [fieldsOnly({}), 400],
      'file and asset': [formOf(picture, { asset_id: assetOf(1) }), 400],
      'two files': [two, 400],
      'another field': [formOf(picture, { colour: 'red' }), 400],
      'another part': [elsewhere, 400],
      'a limit that is no number': [formOf(picture, { limit: 'ten' }), 400],
      'a limit of none': [formOf(picture, { limit: '0' }), 400],
      'a text': [text('hello'), 400],
      'an empty file': [text(''), 400],
      'a truncated picture': [formOf(picture.slice(0, 900)), 400],
      'a bomb': [text('<svg xmlns="http://www.w3.org/2000/svg" width="90000" height="90000"/>'), 400],
      'more than 20 MiB': [formOf(new Uint8Array(20 * 1024 * 1024 + 1)), 413],
      'a missing asset': [fieldsOnly({ asset_id: nowhere }), 404],
      'a malformed asset': [fieldsOnly({ asset_id: 'x' }), 400],
    };
    for (const [name, [body, due]] of Object.entries(bodies))
      expect([name, await stranger.status('POST', '/search/by-image', body)]).toEqual([name, due]);
  });
});
