import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post, PostUpdate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

type Declared = 'none' | 'assisted' | 'generated' | null;

/** Creates an asset of mara with this declaration. */
const declared = (ai_provenance: Declared, sensitivity: 'public' | 'restricted' = 'public') =>
  mara.ok('createAsset', { body: { file_hash: hash, sensitivity, ai_provenance } });
const patch = (id: string, body: PostUpdate) => mara.ok('updatePost', { params: { id }, body });
const read = async (id: string) => (await mara.ok('getPost', { params: { id } })).ai_provenance;
const declare = ({ id }: ShownAsset, value: Declared) =>
  mara.ok('updateAsset', {
    params: { id },
    body: value === null ? { clear_ai_provenance: true } : { ai_provenance: value },
  });
const remove = ({ id }: ShownAsset) => mara.ok('deleteAsset', { params: { id }, body: undefined });
const restore = ({ id }: ShownAsset) => mara.ok('restoreAsset', { params: { id } });
const named = (...assets: { id: string }[]) => assets.map(({ id }) => ({ asset_id: id }));

/** The rule, applied to the declarations of the live contributors. */
function derived(contributors: readonly Declared[]): Declared {
  if (contributors.includes('generated')) return 'generated';
  if (contributors.includes('assisted')) return 'assisted';
  return contributors.length > 0 && contributors.every((one) => one === 'none') ? 'none' : null;
}

/** Returns what the live members and both covers of a post declare now, read from the rows. */
async function contributorsOf(id: string): Promise<Declared[]> {
  const { rows } = await sql<{ ai_provenance: Declared }>`
    select a.ai_provenance from assets a where a.deleted_at is null and (
      a.id in (select asset_id from post_members where post_id = ${id})
      or a.id in (select cover_asset_id from posts where id = ${id})
      or a.id in (select cover_thumbnail_asset_id from posts where id = ${id}))`.execute(library.deps.db);
  return rows.map(({ ai_provenance }) => ai_provenance);
}

const library = await openLibrary();
const [mara, stranger, editor] = await library.joinAll('mara', 'stranger', 'editor');
const root = await library.join('root', 'admin');
await grant(library, editor, 'posts.admin');
const hash = (await upload(mara, plainFile())).file_hash ?? '';

// POST-29
describe('ai_provenance of a post', () => {
  test('is computed at creation and when members change', async () => {
    const post = await publish(mara, [await declared('none')]);
    const steps: [Declared[], Declared][] = [
      [['none', 'none'], 'none'],
      [['none', null], null],
      [['none', 'assisted'], 'assisted'],
      [['assisted', null], 'assisted'],
      [['generated', 'assisted', 'none', null], 'generated'],
      [['generated', null], 'generated'],
      [[null], null],
      [['none'], 'none'],
    ];
    for (const [values, expected] of steps) {
      const members = await Promise.all(values.map((value) => declared(value)));
      expect(await publish(mara, members)).toMatchObject({ ai_provenance: expected });
      expect((await patch(post.id, { members: named(...members) })).ai_provenance).toBe(expected);
      expect(await read(post.id)).toBe(expected);
    }
  });

  test('includes the cover thumbnail, and does not count a member twice that is the cover', async () => {
    const [none, generated] = [await declared('none'), await declared('generated')];
    const silent = await declared(null);
    const post = await publish(mara, [none]);
    const steps: [PostUpdate, Declared][] = [
      [{ cover_thumbnail_asset_id: generated.id }, 'generated'],
      [{ cover_thumbnail_asset_id: silent.id }, null],
      [{ cover_asset_id: none.id }, null],
      [{ clear_cover_thumbnail: true }, 'none'],
      [{ clear_cover: true }, 'none'],
      [{ members: named(none, generated), cover_asset_id: generated.id }, 'generated'],
      [{ members: named(none) }, 'none'],
    ];
    for (const [body, expected] of steps) {
      expect((await patch(post.id, body)).ai_provenance).toBe(expected);
      expect(await read(post.id)).toBe(expected);
    }
  });

  // ASSET-21
  test('changes with the declaration of a member or the thumbnail', async () => {
    const [member, thumbnail] = [await declared('none'), await declared('none')];
    const post = await publish(mara, [member], { cover_thumbnail_asset_id: thumbnail.id });
    const steps: [ShownAsset, Declared, Declared][] = [
      [member, 'assisted', 'assisted'],
      [thumbnail, 'generated', 'generated'],
      [member, 'none', 'generated'],
      [thumbnail, null, null],
      [member, null, null],
      [thumbnail, 'none', null],
      [member, 'none', 'none'],
    ];
    for (const [asset, value, expected] of steps) {
      await declare(asset, value);
      expect(await read(post.id)).toBe(expected);
    }
  });

  test('ignores deleted members and thumbnails, and is undeclared without any live one', async () => {
    const [none, made] = [await declared('none'), await declared('generated')];
    const thumbnail = await declared('assisted');
    const post = await publish(mara, [none, made], { cover_thumbnail_asset_id: thumbnail.id });
    const steps: [() => Promise<unknown>, Declared][] = [
      [() => remove(made), 'assisted'],
      [() => remove(thumbnail), 'none'],
      [() => remove(none), null],
      [() => restore(thumbnail), 'assisted'],
      [() => restore(made), 'generated'],
      [() => remove(thumbnail), 'generated'],
      [() => restore(none), 'generated'],
      [() => remove(made), 'none'],
      // Removing it from the post while it is in the trash keeps it a member; after a restore it counts again.
      [() => patch(post.id, { members: named(none) }), 'none'],
      [() => restore(made), 'generated'],
    ];
    for (const [act, expected] of steps) {
      await act();
      expect(await read(post.id)).toBe(expected);
    }
  });

  test('does not change with other properties of the post or its members', async () => {
    const [none, generated] = [await declared('none'), await declared('generated')];
    const post = await publish(mara, [none]);
    await publish(mara, [generated]);
    await patch(post.id, { title: 'a', visibility: 'private' });
    await mara.ok('unpublishPost', { params: { id: post.id } });
    expect(await read(post.id)).toBe('none');
    await mara.ok('updateAsset', { params: { id: none.id }, body: { status: 'archived' } });
    expect(await read(post.id)).toBe('none');
    await mara.ok('deletePost', { params: { id: post.id }, body: undefined });
    await declare(none, 'assisted');
    await mara.ok('restorePost', { params: { id: post.id } });
    expect(await read(post.id)).toBe('assisted');
  });

  // POST-29
  test('includes withheld members on every surface, for every reader', async () => {
    const [none, hidden] = [await declared('none'), await declared('generated', 'restricted')];
    const post = await publish(mara, [none, hidden], { visibility: 'public' });
    await library.setPublicMode(true);
    for (const who of [mara, stranger, editor, root, library.anonymous()]) {
      const single = await who.ok('getPost', { params: { id: post.id } });
      const { items } = await who.ok('listPosts', { query: { limit: 200 } });
      const featuring = await who.ok('listPostsByAsset', { params: { id: none.id } });
      const mayCount = who === mara || who === root;
      const usage = mayCount ? (await who.ok('listAssetPosts', { params: { id: none.id } })).items : [];
      const shown = [single, ...items, ...featuring, ...usage].filter(({ id }) => id === post.id);
      expect(shown).toHaveLength(mayCount ? 4 : 3);
      for (const { ai_provenance } of shown) expect(ai_provenance).toBe('generated');
    }
    await library.setPublicMode(false);
  });
});

describe('ai_provenance under concurrency', () => {
  test('is correct after ten concurrent changes of members, covers, declarations, deletions and restores', async () => {
    const values: Declared[] = ['none', 'assisted', 'generated', null, 'none', 'none', 'none'];
    for (let round = 0; round < 4; round += 1) {
      const [a, b, c, d, e, f, g] = await Promise.all(values.map((value) => declared(value)));
      if (!a || !b || !c || !d || !e || !f || !g) throw new Error('no assets');
      const post = await publish(mara, [a, b, c], { cover_thumbnail_asset_id: d.id });
      await remove(f);
      const send = (body: PostUpdate, who: Account = mara) =>
        who.send(`/posts/${post.id}`, { method: 'PATCH', body });
      const answers = await Promise.all([
        send({ members: named(a, e) }),
        send({ members: named(a, b, e), cover_asset_id: e.id }, editor),
        send({ cover_thumbnail_asset_id: g.id }),
        send({ clear_cover_thumbnail: true }, editor),
        mara.send(`/assets/${a.id}`, { method: 'PATCH', body: { ai_provenance: 'assisted' } }),
        mara.send(`/assets/${a.id}`, { method: 'PATCH', body: { ai_provenance: 'none' } }),
        mara.send(`/assets/${c.id}`, { method: 'DELETE' }),
        mara.send(`/assets/${b.id}`, { method: 'DELETE' }),
        mara.send(`/admin/assets/${f.id}/restore`, { method: 'POST' }),
        mara.send(`/posts/${post.id}/unpublish`, { method: 'POST' }),
      ]);
      expect(answers.filter(({ status }) => ![200, 204, 404].includes(status))).toEqual([]);
      // Once b is in the trash, no post may add it as a member or as the thumbnail.
      for (const { text } of answers.filter(({ status }) => status === 404)) {
        expect(JSON.parse(text)).toEqual({ error: `asset ${b.id} not found` });
      }
      expect(await read(post.id)).toBe(derived(await contributorsOf(post.id)));
    }
  });

  test('a concurrent reader sees only consistent states', async () => {
    const asset = await declared('none');
    const post = await publish(mara, [asset]);
    const seen = new Set<Post['ai_provenance']>();
    const writing = (async () => {
      for (const value of ['generated', 'none', 'generated', 'none'] as const) await declare(asset, value);
    })();
    const reading = (async () => {
      for (let i = 0; i < 12; i += 1) seen.add(await read(post.id));
    })();
    await Promise.all([writing, reading]);
    expect([...seen].filter((value) => value !== 'none' && value !== 'generated')).toEqual([]);
    expect(await read(post.id)).toBe('none');
  });
});
