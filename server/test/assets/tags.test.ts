import type { ShownAsset } from '@vitrine/contract/assets';
import type { Insertable } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Tables } from '../../src/platform/database/tables.ts';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let asset: ShownAsset;

const library = await openLibrary();
const mara = await library.join('mara');
const hash = (await upload(mara, plainFile())).file_hash ?? '';

/** An asset with tags of a person, two of a model, and one of an import. */
beforeEach(async () => {
  asset = await mara.ok('createAsset', { body: { file_hash: hash, tags: ['by hand'] } });
  await machine('dog', 0.9);
  await machine('cat', 0.4, 11);
  await insert({ value: 'archive', source: 'import', position: 20 });
});

const model = { created_by_provider: 'local', created_by_model: 'clip-1' };
const insert = (tag: Omit<Insertable<Tables['asset_tags']>, 'asset_id'>) => {
  const row = { asset_id: asset.id, ...tag };
  return library.deps.db.insertInto('asset_tags').values(row).execute();
};
const machine = (value: string, confidence: number, position = 10) =>
  insert({ value, source: 'ai', confidence, ...model, position });
const change = (tags: string[] | null) =>
  mara.ok('updateAsset', { params: { id: asset.id }, body: { tags } });
const shown = () => mara.ok('getAsset', { params: { id: asset.id } });

const manual = (value: string) => ({
  value,
  source: 'manual',
  confidence: null,
  created_by_provider: null,
  created_by_model: null,
});
const guessed = (value: string, confidence: number) => ({ value, source: 'ai', confidence, ...model });
const imported = { ...manual('archive'), source: 'import' };

// ASSET-19, ASSET-20
describe('tags of an asset', () => {
  // ASSET-20
  test('return their source, and those from a model its name and confidence', async () => {
    expect(await shown()).toMatchObject({
      tags: ['by hand', 'dog', 'cat', 'archive'],
      tag_details: [manual('by hand'), guessed('dog', 0.9), guessed('cat', 0.4), imported],
    });
  });

  // ASSET-20
  test('have a confidence from 0 to 1 if a model wrote them', async () => {
    for (const [at, confidence] of [0, 1, 1 / 3].entries()) {
      await machine(`edge ${at}`, confidence);
      expect((await change([`edge ${at}`])).tag_details).toEqual([guessed(`edge ${at}`, confidence)]);
    }
    for (const confidence of [-0.01, 1.01, Number.NaN])
      await expect(machine('edge', confidence)).rejects.toThrow(/check constraint/);
    await expect(insert({ value: 'bare', source: 'ai' })).rejects.toThrow(/check constraint/);
  });

  test('from a model find the asset until a person removes them', async () => {
    const found = async () =>
      (await mara.ok('listAssets', { query: { tag: ['heron'] } })).items.map(({ id }) => id);
    await machine('heron', 0.2);
    expect(await found()).toEqual([asset.id]);
    await change(['by hand']);
    expect(await found()).toEqual([]);
  });
});

describe('a list of tags from a person', () => {
  // ASSET-19
  test('is kept in its order and without duplicates, up to 50 tags of 64 characters', async () => {
    const many = Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(64, 'ß'));
    for (const given of [['zebra', 'apple', 'Mango', 'ähre', '日本', 'apple'], many]) {
      for (const list of [given, given.toReversed()]) {
        const tags = [...new Set(list)];
        const changed = await change(list);
        expect([changed.tags, changed.tag_details]).toEqual([tags, tags.map(manual)]);
        expect(await shown()).toEqual(changed);
      }
    }
  });

  // ASSET-20
  test('keeps the source of remaining tags, removes omitted ones, and adds new ones as manual', async () => {
    const { tag_details } = await change(['new', 'archive', 'dog', 'Dog', 'dog', 'by hand', 'BY HAND']);
    const kept = [manual('new'), imported, guessed('dog', 0.9), manual('by hand')];
    expect(tag_details).toEqual(kept);
    // A tag that a person has removed is then theirs.
    await change(['by hand']);
    expect((await change(['dog'])).tag_details).toEqual([manual('dog')]);
  });

  test('removes all tags if empty, and none if absent or null', async () => {
    const before = await shown();
    expect(await change(null)).toEqual(before);
    expect(await change([])).toMatchObject({ tags: [], tag_details: [] });
  });

  test('never causes a 500 with tags that are too long for an index', async () => {
    // A letter with many combining marks is one visible character.
    const marks = Array.from({ length: 400 }, (_, n) => String.fromCodePoint(0x300 + ((n * 7919) % 0x60)));
    const letters = Array.from({ length: 20 }, (_, n) => String.fromCodePoint(0x61 + n));
    const tower = letters.map((letter) => letter + marks.join('')).join('');
    const body = { tags: [tower] };
    const { status, text } = await mara.send(`/assets/${asset.id}`, { method: 'PATCH', body });
    expect([200, 400]).toContain(status);
    if (status === 200) expect(JSON.parse(text).tags).toEqual([tower]);
  });

  test('replaces the list completely under concurrent edits', async () => {
    const lists = Array.from({ length: 8 }, (_, n) => [
      ...new Set(Array.from({ length: 6 }, (_, i) => `tag ${(n * (i + 1)) % 13}`)),
      'dog',
    ]);
    await Promise.all(lists.map(change));
    const after = await change(null);
    expect(lists).toContainEqual(after.tags);
    expect(after.tag_details.at(-1)).toEqual(guessed('dog', 0.9));
  });
});
