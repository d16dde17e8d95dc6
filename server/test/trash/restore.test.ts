import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs, grant, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** The access matrix (server/test/access/surfaces/trash.ts) shows who restores what. */

type Kind = 'post' | 'asset';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [owner, keeper, stranger] = await library.joinAll('owner', 'keeper', 'stranger');
await grant(library, keeper, ['posts.admin', 'assets.admin']);
const file = await upload(owner, plainFile());
const [hash, member] = [file.file_hash ?? '', file.id];

const paths = { post: 'posts', asset: 'assets' };
const tables = { post: sql.table('posts'), asset: sql.table('assets') };

async function add(kind: Kind, draft = false): Promise<string> {
  const texts = { title: 'Ridge', tags: ['sea'] };
  const asset = { file_hash: hash, sensitivity: 'public', ...texts } as const;
  if (kind === 'asset') return (await owner.ok('createAsset', { body: asset })).id;
  return (await publish(owner, [{ id: member }], { ...texts, draft })).id;
}

const remove = (kind: Kind, id: string, as: Visitor) =>
  as.ok(kind === 'post' ? 'deletePost' : 'deleteAsset', { params: { id }, body: { reason: 'a reason' } });
const restore = (kind: Kind, id: string, as: Visitor) =>
  as.send(`/admin/${paths[kind]}/${id}/restore`, { method: 'POST' });
const read = (kind: Kind, id: string, as: Visitor = owner) => as.send(`/${paths[kind]}/${id}`);

async function rowOf(kind: Kind, id: string) {
  const { rows } = await sql<{ deleted_at: string | null }>`
    select deleted_at, deleted_reason, deleted_by_user_ref
    from ${tables[kind]} where id = ${id}`.execute(library.deps.db);
  return rows[0];
}

const eventsOf = (kind: Kind, id: string) =>
  auditEvents(library, { target_id: id, event: `admin.${kind}.restored` });

// POST-37, TRASH-2
describe.each(['post', 'asset'] as const)('restore of a deleted %s', (kind) => {
  /** Creates an item that its owner deletes. Returns its id. */
  async function deleted(): Promise<string> {
    const id = await add(kind);
    await remove(kind, id, owner);
    return id;
  }

  // TRASH-2
  test('is done by the account that deleted it, also without the right to delete', async () => {
    const fleeting = await library.join(`fleeting ${kind}`);
    await grant(library, fleeting, ['posts.admin', 'assets.admin']);
    const id = await add(kind);
    await remove(kind, id, fleeting);
    await withdrawGrants(library, fleeting);
    for (const who of [owner, keeper]) expect((await restore(kind, id, who)).status).toBe(403);
    expect((await restore(kind, id, fleeting)).status).toBe(204);
    const live = { deleted_at: null, deleted_reason: null, deleted_by_user_ref: null };
    expect(await rowOf(kind, id)).toEqual(live);
  });

  // TRASH-4
  test('restores it unchanged', async () => {
    const id = await add(kind);
    const before = await read(kind, id);
    await remove(kind, id, owner);
    expect((await read(kind, id)).status).toBe(404);
    expect((await restore(kind, id, owner)).status).toBe(204);
    expect((await read(kind, id)).text).toBe(before.text);
    expect((await read(kind, id, stranger)).status).toBe(200);
  });

  // TRASH-4
  test('records one audit event with the impersonator', async () => {
    const id = await deleted();
    await restore(kind, id, await actAs(library, root, owner));
    const metadata = { impersonated_by: { ref: root.ref, username: 'root' } };
    expect(await eventsOf(kind, id)).toMatchObject([
      { actor_user_ref: owner.ref, impersonator_user_ref: root.ref, target_kind: kind, metadata },
    ]);
  });

  // TRASH-3
  test('returns 404 for an item that is not deleted, is unknown or is of the other kind', async () => {
    const live = await add(kind);
    const otherKind = kind === 'post' ? 'asset' : 'post';
    const odd = await add(otherKind);
    await remove(otherKind, odd, owner);
    for (const id of [live, crypto.randomUUID(), odd]) {
      const answer = await restore(kind, id, owner);
      expect([answer.status, answer.text]).toEqual([404, '{"error":"not found"}']);
    }
    expect(await eventsOf(kind, live)).toEqual([]);
  });

  // TRASH-3
  test('answers 404 the second time; it can be deleted and restored again', async () => {
    const id = await deleted();
    expect((await restore(kind, id, owner)).status).toBe(204);
    expect((await restore(kind, id, owner)).status).toBe(404);
    await remove(kind, id, keeper);
    expect((await restore(kind, id, owner)).status).toBe(403);
    expect((await restore(kind, id, keeper)).status).toBe(204);
    expect(await eventsOf(kind, id)).toHaveLength(2);
  });

  // TRASH-4
  test('restores once under ten concurrent requests', async () => {
    const id = await deleted();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => restore(kind, id, n % 2 === 0 ? owner : root)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
    expect(await eventsOf(kind, id)).toHaveLength(1);
  });

  test('stays consistent when racing with deletes', async () => {
    const id = await add(kind);
    let removals = 0;
    let returns = 0;
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all([
        owner.send(`/${paths[kind]}/${id}`, { method: 'DELETE' }),
        restore(kind, id, root),
        root.send(`/${paths[kind]}/${id}`, { method: 'DELETE' }),
        restore(kind, id, root),
      ]);
      expect(answers.every(({ status }) => status === 204 || status === 404)).toBe(true);
      removals += [answers[0], answers[2]].filter((answer) => answer?.status === 204).length;
      returns += [answers[1], answers[3]].filter((answer) => answer?.status === 204).length;
    }
    const row = await rowOf(kind, id);
    expect(removals - returns).toBe(row?.deleted_at === null ? 0 : 1);
    expect(await eventsOf(kind, id)).toHaveLength(returns);
  });
});

describe('a restored post', () => {
  test('has its likes, comments and counts', async () => {
    const id = await add('post');
    await keeper.ok('likePost', { params: { id } });
    await keeper.ok('createComment', { params: { id }, body: { body: 'Fine light' } });
    const before = (await read('post', id)).text;
    expect(JSON.parse(before)).toMatchObject({ like_count: 1, comment_count: 1 });
    await remove('post', id, owner);
    await restore('post', id, owner);
    expect((await read('post', id)).text).toBe(before);
  });

  test('stays a draft if it was one', async () => {
    const id = await add('post', true);
    await remove('post', id, owner);
    await restore('post', id, owner);
    expect(await owner.ok('getPost', { params: { id } })).toMatchObject({ draft: true });
    expect(await stranger.status('GET', `/posts/${id}`)).toBe(404);
  });

  test('does not restore its assets, nor an asset its posts', async () => {
    const asset = await add('asset');
    const post = (await publish(owner, [{ id: asset }])).id;
    await remove('asset', asset, owner);
    await remove('post', post, owner);
    await restore('post', post, owner);
    expect((await read('asset', asset)).status).toBe(404);
    expect(await owner.ok('getPost', { params: { id: post } })).toMatchObject({ members: [] });
    await remove('post', post, owner);
    await restore('asset', asset, owner);
    expect((await read('post', post)).status).toBe(404);
  });
});
