import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type EncoderProcess, startEncoder } from '../support/encoder.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { altered, scene } from './scenes.ts';

let encoder: EncoderProcess;
let library: Library;
let mara: Account;
let stranger: Account;
let admin: Account;
const pictures: Uint8Array<ArrayBuffer>[] = [];
const assets: string[] = [];

beforeAll(async () => {
  encoder = await startEncoder();
  library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
  [mara, stranger, admin] = await Promise.all([
    arrive(library, 'mara'),
    arrive(library, 'stranger'),
    arrive(library, 'admin', 'admin'),
  ]);
  for (let seed = 1; seed <= 8; seed += 1) {
    const bytes = await scene(seed);
    pictures.push(bytes);
    assets.push((await upload(mara, bytes)).id);
  }
  await library.runJobs();
  await library.runJobs();
});

afterAll(() => encoder.stop());

const pictureOf = (seed: number): Uint8Array<ArrayBuffer> => pictures[seed - 1] ?? new Uint8Array();
const assetOf = (seed: number): string => assets[seed - 1] ?? '';

function form(file: Uint8Array<ArrayBuffer> | null, fields: Record<string, string> = {}): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  if (file !== null) made.append('file', new Blob([file]), 'found.jpg');
  return made;
}

async function search(visitor: Visitor, body: FormData) {
  const { items } = await visitor.ok('searchByImage', { body });
  return items.map(({ asset, distance }) => ({ id: asset.id, distance }));
}

describe('POST /search/by-image', () => {
  test.each(['small', 'bright', 'cropped', 'grey'] as const)(
    'finds the picture a %s copy was made of, first of all',
    async (how) => {
      for (const seed of [1, 4, 7]) {
        const found = await search(stranger, form(await altered(pictureOf(seed), how)));
        expect(found[0]?.id).toBe(assetOf(seed));
        expect(found[0]?.distance).toBeLessThan(found[1]?.distance ?? 0);
      }
    },
  );

  // SEARCH-16
  test('returns distances in ascending order with three decimals, and 0 for the same picture', async () => {
    const found = await search(stranger, form(pictureOf(2)));
    expect(found).toHaveLength(8);
    expect(found[0]).toEqual({ id: assetOf(2), distance: 0 });
    const distances = found.map(({ distance }) => distance);
    expect(distances).toEqual(distances.toSorted((a, b) => a - b));
    expect(
      distances.every((distance) => Math.abs(distance * 1000 - Math.round(distance * 1000)) < 1e-6),
    ).toBe(true);
  });

  test('takes an asset in place of a file, in a form or as JSON, and leaves it out of the answer', async () => {
    const byForm = await search(stranger, form(null, { asset_id: assetOf(3) }));
    const { items } = await stranger.ok('searchByImage', { body: { asset_id: assetOf(3) } });
    expect(byForm.map(({ id }) => id)).not.toContain(assetOf(3));
    expect(byForm).toHaveLength(7);
    expect(items.map(({ asset }) => asset.id)).toEqual(byForm.map(({ id }) => id));
  });

  test('returns the requested number of hits, at most 100', async () => {
    expect(await search(stranger, form(pictureOf(1), { limit: '3' }))).toHaveLength(3);
    for (const limit of ['0', '101', '-1', 'ten', '1.5']) {
      expect(
        (await stranger.send('/search/by-image', { method: 'POST', body: form(pictureOf(1), { limit }) }))
          .status,
      ).toBe(400);
    }
  });

  // SEARCH-16
  test('does not store the query', async () => {
    const count = async () => {
      const { rows } = await sql<{ n: number }>`select (select count(*) from files)::integer
        + (select count(*) from picture_vectors)::integer as n`.execute(library.deps.db);
      return rows[0]?.n;
    };
    const before = await count();
    await search(stranger, form(await scene(99)));
    expect(await count()).toBe(before);
  });
});

describe('what cannot be searched by is a clear refusal', () => {
  const refusal = async (body: FormData) => {
    const { status, text } = await stranger.send('/search/by-image', { method: 'POST', body });
    return { status, ...JSON.parse(text) };
  };

  // SEARCH-18
  test('neither file nor asset, both, two files, another field, another part', async () => {
    expect((await refusal(form(null))).status).toBe(400);
    expect((await refusal(form(pictureOf(1), { asset_id: assetOf(1) }))).status).toBe(400);
    const two = form(pictureOf(1));
    two.append('file', new Blob([pictureOf(2)]), 'b.jpg');
    expect((await refusal(two)).status).toBe(400);
    expect((await refusal(form(pictureOf(1), { colour: 'red' }))).error).toContain('colour');
    const elsewhere = new FormData();
    elsewhere.append('picture', new Blob([pictureOf(1)]), 'a.jpg');
    expect((await refusal(elsewhere)).status).toBe(400);
  });

  // SEARCH-18
  test('bytes that are no picture, an empty file, a truncated one, a drawing that is a bomb', async () => {
    const texts = ['hello', '', '<svg xmlns="http://www.w3.org/2000/svg" width="90000" height="90000"/>'];
    for (const text of texts) {
      expect((await refusal(form(new TextEncoder().encode(text)))).status).toBe(400);
    }
    expect((await refusal(form(pictureOf(1).slice(0, 900)))).status).toBe(400);
  });

  // SEARCH-18
  test('more than 20 MiB is 413', async () => {
    expect((await refusal(form(new Uint8Array(20 * 1024 * 1024 + 1)))).status).toBe(413);
  });

  test('an asset that is missing or malformed', async () => {
    expect((await refusal(form(null, { asset_id: nowhere }))).status).toBe(404);
    expect((await refusal(form(null, { asset_id: 'x' }))).status).toBe(400);
  });
});

// SEARCH-16
describe('finds only pictures whose bytes the caller may read', () => {
  const hidden: Record<string, Record<string, string>> = {
    restricted: { sensitivity: 'restricted' },
    draft: { status: 'draft' },
    mature: { mature: 'true' },
  };

  test.each(Object.entries(hidden))(
    'a %s picture is found by its owner and an administrator alone',
    async (name, fields) => {
      const bytes = await scene(50 + name.length);
      const { id } = await upload(mara, bytes, fields);
      await library.runJobs();
      await library.runJobs();
      const holder = await arrive(library, `reader-${name}`);
      await grant(library, holder, 'content.read.all');
      const finds = async (visitor: Visitor) =>
        (await search(visitor, form(bytes))).some((hit) => hit.id === id);
      expect(await finds(mara)).toBe(true);
      expect(await finds(admin)).toBe(true);
      expect(await finds(stranger)).toBe(false);
      expect(await finds(holder)).toBe(name === 'restricted');
      expect((await stranger.refused('searchByImage', { body: { asset_id: id } })).status).toBe(404);
      await library.deps.db
        .updateTable('assets')
        .set({ deleted_at: new Date().toISOString() })
        .where('id', '=', id)
        .execute();
      expect(await finds(mara)).toBe(false);
      expect(await finds(admin)).toBe(false);
    },
  );

  // SEARCH-16
  test('what is withheld changes neither the number nor the order of what is found', async () => {
    const bytes = await scene(70);
    const before = await search(stranger, form(bytes));
    for (let copy = 0; copy < 5; copy += 1) {
      await upload(mara, await altered(bytes, copy % 2 === 0 ? 'bright' : 'grey'), {
        sensitivity: 'restricted',
      });
    }
    await library.runJobs();
    await library.runJobs();
    expect(await search(stranger, form(bytes))).toEqual(before);
  });

  test('visitors in public mode alone, and tokens with the scope read', async () => {
    const ask = { body: form(pictureOf(1)) };
    expect((await library.anonymous().refused('searchByImage', ask)).status).toBe(401);
    await library.setPublicMode(true);
    expect((await search(library.anonymous(), form(pictureOf(1))))[0]?.id).toBe(assetOf(1));
    await library.setPublicMode(false);
    const reader = await bearer(library, stranger, ['read']);
    const writer = await bearer(library, stranger, ['posts.write']);
    expect((await search(reader, form(pictureOf(1))))[0]?.id).toBe(assetOf(1));
    expect((await writer.refused('searchByImage', ask)).status).toBe(403);
  });
});
