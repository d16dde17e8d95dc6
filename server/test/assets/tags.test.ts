import type { ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let hash: string;
let asset: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  const first = await upload(mara, plainText());
  if (first.file_hash === null) throw new Error('no hash');
  hash = first.file_hash;
});

beforeEach(async () => {
  asset = await mara.ok('createAsset', { body: { file_hash: hash, tags: ['by hand'] } });
});

async function change(tags: string[] | null): Promise<ShownAsset> {
  return mara.ok('updateAsset', { params: { id: asset.id }, body: { tags } });
}

/** Tags written by a machine or an import. */
async function machine(value: string, confidence: number, position = 10): Promise<void> {
  await library.deps.db
    .insertInto('asset_tags')
    .values({
      asset_id: asset.id,
      value,
      source: 'ai',
      confidence,
      created_by_provider: 'local',
      created_by_model: 'clip-1',
      position,
    })
    .execute();
}

async function imported(value: string, position = 20): Promise<void> {
  const row = { asset_id: asset.id, value, source: 'import' as const, position };
  await library.deps.db.insertInto('asset_tags').values(row).execute();
}

const manual = (value: string) => ({
  value,
  source: 'manual',
  confidence: null,
  created_by_provider: null,
  created_by_model: null,
});
const guessed = (value: string, confidence: number) => ({
  value,
  source: 'ai',
  confidence,
  created_by_provider: 'local',
  created_by_model: 'clip-1',
});

// ASSET-19, ASSET-20
describe('tags of an asset', () => {
  // ASSET-19
  test('`tags` and `tag_details` list the same tags in the order they were written', async () => {
    const given = ['zebra', 'apple', 'Mango', 'ähre', '日本'];
    const changed = await change(given);
    expect(changed.tags).toEqual(given);
    expect(changed.tag_details.map(({ value }) => value)).toEqual(given);
    const turned = await change([...given].reverse());
    expect(turned.tags).toEqual([...given].reverse());
    expect(turned.tag_details.map(({ value }) => value)).toEqual([...given].reverse());
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toEqual(turned);
  });

  // ASSET-20
  test('return their source, and those from a model its name and confidence', async () => {
    await machine('dog', 0.87);
    await imported('archive');
    const shown = await mara.ok('getAsset', { params: { id: asset.id } });
    expect(shown).toMatchObject({ tags: ['by hand', 'dog', 'archive'] });
    expect(!shown.restricted && shown.tag_details).toEqual([
      manual('by hand'),
      guessed('dog', 0.87),
      { ...manual('archive'), source: 'import' },
    ]);
  });

  test.each([0, 1, 1 / 3])('keep a confidence of %d', async (confidence) => {
    await machine('edge', confidence);
    const shown = await change(['edge']);
    expect(shown.tag_details).toEqual([guessed('edge', confidence)]);
  });

  // ASSET-20
  test.each([-0.01, 1.01, Number.NaN])(
    'refuse a confidence of %d or none for a tag from a model',
    async (confidence) => {
      await expect(machine('edge', confidence)).rejects.toThrow(/check constraint/);
      const bare = { asset_id: asset.id, value: 'bare', source: 'ai' as const };
      await expect(library.deps.db.insertInto('asset_tags').values(bare).execute()).rejects.toThrow(
        /check constraint/,
      );
    },
  );
});

describe('a list of tags from a person', () => {
  beforeEach(async () => {
    await machine('dog', 0.9);
    await machine('cat', 0.4, 11);
    await imported('archive');
  });

  // ASSET-20
  test('keeps the source of remaining tags, removes omitted ones, and adds new ones as manual', async () => {
    const { tag_details } = await change(['new', 'archive', 'dog', 'by hand']);
    expect(tag_details).toEqual([
      manual('new'),
      { ...manual('archive'), source: 'import' },
      guessed('dog', 0.9),
      manual('by hand'),
    ]);
  });

  // ASSET-20
  test('adds a removed tag from a model as manual', async () => {
    await change(['by hand']);
    expect((await change(['dog'])).tag_details).toEqual([manual('dog')]);
  });

  test('removes all tags if empty, and none if absent or null', async () => {
    const before = await mara.ok('getAsset', { params: { id: asset.id } });
    const untouched = await mara.ok('updateAsset', { params: { id: asset.id }, body: { title: 'x' } });
    expect(!before.restricted && untouched.tag_details).toEqual(!before.restricted && before.tag_details);
    expect((await change(null)).tag_details).toEqual(untouched.tag_details);
    expect(await change([])).toMatchObject({ tags: [], tag_details: [] });
  });

  // ASSET-19
  test('drops duplicates and keeps the first position', async () => {
    const { tags, tag_details } = await change(['a', 'dog', 'a', 'b', 'dog']);
    expect(tags).toEqual(['a', 'dog', 'b']);
    expect(tag_details[1]).toEqual(guessed('dog', 0.9));
  });

  // ASSET-19
  test('distinguishes case', async () => {
    const { tag_details } = await change(['Dog', 'dog']);
    expect(tag_details).toEqual([manual('Dog'), guessed('dog', 0.9)]);
  });

  test('cannot set the source of a tag', async () => {
    const body = { tag_details: [guessed('dog', 1)] };
    const answer = await mara.send(`/assets/${asset.id}`, { method: 'PATCH', body });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { error: 'unknown property tag_details' },
    ]);
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
      tags: ['by hand', 'dog', 'cat', 'archive'],
    });
  });

  // ASSET-19
  test('may have 50 tags of 64 characters', async () => {
    const many = Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(64, 'ß'));
    expect((await change(many)).tags).toEqual(many);
  });

  test('never causes a 500 with tags that are too long for an index', async () => {
    // A letter with many combining marks is one visible character.
    const marks = Array.from({ length: 400 }, (_, n) =>
      String.fromCodePoint(0x300 + ((n * 7919) % 0x60)),
    ).join('');
    const tower = Array.from({ length: 20 }, (_, n) => String.fromCodePoint(0x61 + n) + marks).join('');
    const answer = await mara.send(`/assets/${asset.id}`, { method: 'PATCH', body: { tags: [tower] } });
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) expect(JSON.parse(answer.text).tags).toEqual([tower]);
  });

  test('replaces the list completely under concurrent edits', async () => {
    const lists = Array.from({ length: 12 }, (_, n) =>
      Array.from({ length: 6 }, (_, i) => `tag ${(n * (i + 1)) % 13}`).filter(
        (v, at, all) => all.indexOf(v) === at,
      ),
    );
    await Promise.all(lists.map((tags) => change([...tags, 'dog'])));
    const shown = await mara.ok('getAsset', { params: { id: asset.id } });
    if (shown.restricted) throw new Error('withheld from its owner');
    expect(lists.map((tags) => [...tags, 'dog'])).toContainEqual(shown.tags);
    expect(shown.tag_details.at(-1)).toEqual(guessed('dog', 0.9));
  });
});

describe('a tag from a model', () => {
  test('finds the asset until a person removes the tag', async () => {
    const found = async () =>
      (await mara.ok('listAssets', { query: { tag: ['heron'] } })).items.map(({ id }) => id);
    await machine('heron', 0.2);
    expect(await found()).toEqual([asset.id]);
    await change(['by hand']);
    expect(await found()).toEqual([]);
  });
});
