import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, arrive, bearer, grant } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

/** A vocabulary behind a capability is not searchable without the capability. */

let library: Library;
let root: Account;
let mara: Account;
let asset: string;
let collection: string;
let blind: Record<string, Visitor>;
let seeing: Record<string, Visitor>;

async function vocabulary(subject_kind: 'asset' | 'collection', code: string): Promise<string> {
  const made = await root.ok('createField', {
    body: {
      code,
      label: 'Whence',
      type: 'multi_select',
      subject_kind,
      read_capability: 'share.grant',
      options: {
        values: [{ value: 'smuggled', label: 'Contraband marble', aliases: ['bootleg'] }, 'bought'],
      },
    },
  });
  return made.id;
}

let ofAssets: string;
let ofCollections: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  mara = await arrive(library, 'mara');
  const stranger = await arrive(library, 'stranger');
  const holder = await arrive(library, 'holder');
  const definer = await arrive(library, 'definer');
  await grant(library, holder, 'share.grant');
  await grant(library, definer, 'fields.admin');
  await library.setPublicMode(true);
  ({ id: asset } = await upload(mara, plainFile(), { title: 'marble torso' }));
  await publish(mara, [{ id: asset }], { title: 'marble post', visibility: 'public' });
  const made = await mara.ok('createCollection', { body: { name: 'marble shelf', visibility: 'public' } });
  collection = made.id;
  ofAssets = await vocabulary('asset', 'whence');
  ofCollections = await vocabulary('collection', 'shelf_whence');
  const value = { value_options: ['smuggled'] };
  await root.ok('setAssetFieldValue', { params: { id: asset, field_id: ofAssets }, body: value });
  await root.ok('setCollectionFieldValue', {
    params: { id: collection, field_id: ofCollections },
    body: value,
  });
  blind = {
    anonymous: library.anonymous(),
    stranger,
    owner: mara,
    // Configuring a field does not grant reading its values, but its vocabulary remains editable.
    definer,
    'token of a stranger': await bearer(library, stranger, ['read']),
    'administrator acting as a stranger': await actAs(library, root, stranger),
  };
  seeing = { holder, root, 'token of a holder': await bearer(library, holder, ['read']) };
});

const words = [
  'contraband',
  'contrab',
  '"contraband"',
  'contrabnad',
  'smuggled',
  'bootleg',
  'marble contraband',
];

/** Returns everything that a query reveals about the words. */
async function told(visitor: Visitor, q: string) {
  const { items, total, facets } = await visitor.ok('search', { query: { q, facets: true } });
  return {
    total,
    texts: items.flatMap((hit) => hit.highlights.map(({ text }) => text)),
    fields: facets?.fields ?? [],
    suggestions: (await visitor.ok('suggest', { query: { q } })).items,
    assets: (await visitor.ok('listAssets', { query: { q } })).items,
    posts: (await visitor.ok('listPosts', { query: { q } })).items,
  };
}

describe('a vocabulary behind a capability', () => {
  test('is found, counted and highlighted with the capability', async () => {
    for (const [name, visitor] of Object.entries(seeing)) {
      const answer = await told(visitor, 'contraband');
      expect([name, answer.total, answer.texts]).toEqual([
        name,
        2,
        ['Contraband marble', 'Contraband marble'],
      ]);
      expect(answer.fields).toMatchObject([
        { code: 'whence', values: [{ label: 'Contraband marble', count: 1 }] },
      ]);
    }
  });

  test('is not found without it, alone or with other words', async () => {
    for (const [name, visitor] of Object.entries(blind)) {
      // Tests all forms of the word for one caller, and one form for the others.
      for (const q of name === 'stranger' ? words : words.slice(0, 1))
        expect([name, q, await told(visitor, q)]).toEqual([
          name,
          q,
          { total: 0, texts: [], fields: [], suggestions: [], assets: [], posts: [] },
        ]);
      const beside = await told(visitor, 'marble');
      expect([name, beside.total, beside.fields]).toEqual([name, 3, []]);
      // Excluding results because of an unreadable word would reveal the word.
      expect([name, (await told(visitor, 'marble -contraband')).total]).toEqual([name, 3]);
      expect(JSON.stringify(beside)).not.toMatch(/contraband|smuggled|whence/i);
    }
  });

  test('looks like a missing field without it: 400 for filters, 404 for values', async () => {
    for (const [name, visitor] of Object.entries(blind)) {
      const filter = await visitor.send('/search?filter=field:whence=smuggled');
      const never = await visitor.send('/search?filter=field:whencf=smuggled');
      expect([name, filter.status]).toEqual([name, 400]);
      expect(filter.text.replace('whence', '')).toBe(never.text.replace('whencf', ''));
      for (const [path, id] of [
        [`/assets/${asset}/fields`, ofAssets],
        [`/collections/${collection}/fields`, ofCollections],
      ]) {
        const values = await visitor.send(path ?? '');
        expect([name, values.status]).toEqual([name, 200]);
        expect(values.text).not.toMatch(/smuggled|contraband/i);
        if (name === 'definer') continue;
        expect([name, (await visitor.send(`/fields/${id}/values?q=contra`)).status]).toEqual([name, 404]);
        expect((await visitor.send('/fields?status=any&limit=200')).text).not.toContain('hence');
      }
    }
  });
});
