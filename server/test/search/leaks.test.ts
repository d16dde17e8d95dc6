import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

/** The access matrix covers which assets, posts, collections and people each kind of caller finds. */

const bytes = plainFile();

const library = await openLibrary({}, { connections: 2 });
const [mara, stranger, holder] = await library.joinAll('mara', 'stranger', 'holder');
const root = await library.join('root', 'admin');
const anonymous = library.anonymous();
await grant(library, holder, 'share.grant');
await library.setPublicMode(true);

/** Returns what a search and the lists that take `q` reveal about a query. */
async function told(visitor: Visitor, q: string) {
  const { items, total, facets } = await visitor.ok('search', { query: { q, facets: true, limit: 200 } });
  return {
    total,
    highlights: items.flatMap((hit) => hit.highlights.map(({ text }) => text)),
    fields: facets?.fields ?? [],
    suggestions: (await visitor.ok('suggest', { query: { q } })).items,
    assets: (await visitor.ok('listAssets', { query: { q } })).items.length,
    posts: (await visitor.ok('listPosts', { query: { q } })).items.length,
  };
}

const nothing = { total: 0, highlights: [], fields: [], suggestions: [], assets: 0, posts: 0 };
const totals = (q: string, ...visitors: Visitor[]) =>
  Promise.all(visitors.map(async (visitor) => (await told(visitor, q)).total));

// SEARCH-6
test('an asset that is mature is found by file name only by callers who may see its bytes', async () => {
  await upload(mara, bytes, { title: 'mature one', mature: 'true' }, 'velociraptor.jpg');
  for (const q of ['velociraptor', 'velocirap', '"velociraptor"']) {
    expect([q, await told(stranger, q)]).toEqual([q, nothing]);
    expect([q, await totals(q, mara, root)]).toEqual([q, [1, 1]]);
  }
});

describe('a post', () => {
  test('is not found by a deleted comment, or by the old text of an edited one', async () => {
    const picture = await upload(mara, bytes, { title: 'picture' });
    const { id } = await publish(mara, [picture], { title: 'commented' });
    const comment = await stranger.ok('createComment', { params: { id }, body: { body: 'trombonist' } });
    expect(await totals('trombonist', stranger)).toEqual([1]);
    await stranger.ok('updateComment', { params: { id: comment.id }, body: { body: 'violinist' } });
    expect([await totals('trombonist', mara), await totals('violinist', mara)]).toEqual([[0], [1]]);
    await stranger.ok('deleteComment', { params: { id: comment.id } });
    expect(await told(mara, 'violinist')).toEqual(nothing);
  });

  // SEARCH-2
  test('is not found by the title of a withheld member, nor in the trash', async () => {
    const hidden = await upload(mara, bytes, { title: 'hiddenmember', sensitivity: 'restricted' });
    const open = await upload(mara, bytes, { title: 'open' });
    const { id } = await publish(mara, [open, hidden], { title: 'mixed' });
    expect(await told(stranger, 'hiddenmember')).toEqual(nothing);
    expect(await totals('mixed', stranger)).toEqual([1]);
    await mara.ok('deletePost', { params: { id }, body: undefined });
    expect(await told(root, 'mixed')).toEqual(nothing);
    await mara.ok('restorePost', { params: { id } });
    expect(await totals('mixed', stranger)).toEqual([1]);
  });
});

// SEARCH-14
test('people are found by full name by signed-in callers only', async () => {
  const find = (who: Visitor, q: string) => who.ok('search', { query: { q, kind: 'user' } });
  const people = async (q: string) => [(await find(mara, q)).total, (await find(anonymous, q)).total];
  const update = (body: object) => stranger.ok('updateUser', { params: { ref: stranger.ref }, body });
  await update({ fullname: 'Persephone Quill' });
  for (const q of ['persephone', 'persephnoe']) expect([q, await people(q)]).toEqual([q, [1, 0]]);
  expect(await people('stranger')).toEqual([1, 1]);
  await update({ hide_from_anonymous: true });
  expect(await people('stranger')).toEqual([1, 0]);
  expect((await anonymous.ok('suggest', { query: { q: 'strang' } })).items).toEqual([]);
});

describe('the words of a field behind a capability', () => {
  const gate = { read_capability: 'share.grant' };

  // SEARCH-7
  test('are found, excluded and highlighted for holders only, and change hands before the response', async () => {
    const team = await addTeam(library, 'lights', [mara]);
    const inTeam = await library.join('in team');
    await grant(library, inTeam, 'share.grant', team);
    const notes = { code: 'notes', label: 'Notes', type: 'text', ...gate } as const;
    const field = await root.ok('createField', { body: notes });
    const { id } = await upload(mara, bytes, { title: 'annotated gondola', team_id: team });
    const value = { params: { id, field_id: field.id }, body: { value_text: 'contrabassoon' } };
    await root.ok('setAssetFieldValue', value);
    expect(await told(mara, 'contrabassoon')).toEqual(nothing);
    expect((await told(holder, 'contrabassoon')).highlights).toEqual(['contrabassoon']);
    expect(await totals('contrabassoon', holder, inTeam, root, stranger)).toEqual([1, 1, 1, 0]);
    expect(await totals('gondola contrabassoon', holder, mara)).toEqual([1, 0]);
    // Callers who may not read the value find the asset whether the value contains the word or not.
    expect(await totals('gondola -contrabassoon', holder, mara)).toEqual([0, 1]);
    expect((await told(mara, 'gondola')).highlights).not.toContain('contrabassoon');

    const set = async (body: object) => {
      await root.ok('updateField', { params: { id: field.id }, body });
      return totals('contrabassoon', mara, anonymous, holder);
    };
    expect(await set({ clear_read_capability: true })).toEqual([1, 1, 1]);
    expect(await set(gate)).toEqual([0, 0, 1]);
    expect(await set({ searchable: false })).toEqual([0, 0, 0]);
    expect(await set({ searchable: true })).toEqual([0, 0, 1]);
    expect(await set({ status: 'archived' })).toEqual([0, 0, 0]);
  });

  // SEARCH-7
  test('include its vocabulary: labels, slugs, aliases, facets and definitions', async () => {
    const values = [{ value: 'smuggled', label: 'Contraband marble', aliases: ['bootleg'] }, 'bought'];
    const { id: asset } = await upload(mara, bytes, { title: 'marble torso' });
    const field = await root.ok('createField', {
      body: { code: 'whence', label: 'Whence', type: 'multi_select', options: { values }, ...gate },
    });
    const body = { value_options: ['smuggled'] };
    await root.ok('setAssetFieldValue', { params: { id: asset, field_id: field.id }, body });
    const definer = await library.join('definer');
    await grant(library, definer, 'fields.admin');
    for (const visitor of [holder, root, await bearer(library, holder, ['read'])]) {
      const { total, highlights, fields } = await told(visitor, 'contraband');
      expect([total, highlights]).toEqual([1, ['Contraband marble']]);
      expect(fields).toMatchObject([{ code: 'whence', values: [{ label: 'Contraband marble', count: 1 }] }]);
    }
    const acting = await actAs(library, root, stranger);
    // Configuring a field does not grant reading its values.
    for (const visitor of [anonymous, stranger, mara, definer, acting]) {
      for (const q of ['contrab', '"contraband"', 'contrabnad', 'smuggled', 'bootleg'])
        expect([q, await told(visitor, q)]).toEqual([q, nothing]);
      const beside = await told(visitor, 'marble');
      expect([beside.total, beside.fields]).toEqual([1, []]);
      expect(await totals('marble -contraband', visitor)).toEqual([1]);
      const filter = await visitor.send('/search?filter=field:whence=smuggled');
      const never = await visitor.send('/search?filter=field:whencf=smuggled');
      expect(filter.text.replace('whence', '')).toBe(never.text.replace('whencf', ''));
      if (visitor === definer) continue;
      expect(await visitor.status('GET', `/fields/${field.id}/values?q=contra`)).toBe(404);
    }
  });
});

// SEARCH-8
test('the order does not depend on what the caller may not read', async () => {
  for (const [title = '', description = ''] of [
    ['ocarina'],
    ['an ocarina among others'],
    ['something', 'an ocarina'],
  ])
    await upload(mara, bytes, { title, description });
  const ask = () => stranger.ok('search', { query: { q: 'ocarina', limit: 200, facets: true } });
  const before = await ask();
  for (let n = 0; n < 5; n++)
    await upload(mara, bytes, { title: 'ocarina ocarina', tags: 'ocarina', sensitivity: 'restricted' });
  const hidden = await upload(mara, bytes, { title: 'ocarina too', status: 'draft' });
  await publish(mara, [hidden], { title: 'ocarina', visibility: 'private' });
  expect(await ask()).toEqual(before);
});
