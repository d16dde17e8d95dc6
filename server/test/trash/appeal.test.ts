import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

type Kind = 'post' | 'asset';

let library: Library;
let root: Account;
let owner: Account;
let keeper: Account;
let hash: string;
let member: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  owner = await library.join('owner');
  keeper = await library.join('keeper');
  await grant(library, keeper, 'posts.admin');
  await grant(library, keeper, 'assets.admin');
  const file = await upload(owner, plainFile());
  if (file.file_hash === null) throw new Error('no hash');
  hash = file.file_hash;
  member = file.id;
});

const tables = { post: sql.table('posts'), asset: sql.table('assets') };

async function add(kind: Kind, as: Account = owner): Promise<string> {
  if (kind === 'post') return (await as.ok('createPost', { body: { members: [{ asset_id: member }] } })).id;
  if (as === owner)
    return (await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } })).id;
  return (await upload(as, plainFile())).id;
}

async function remove(kind: Kind, id: string, as: Visitor): Promise<void> {
  if (kind === 'post') await as.ok('deletePost', { params: { id }, body: undefined });
  else await as.ok('deleteAsset', { params: { id }, body: undefined });
}

async function taken(kind: Kind): Promise<string> {
  const id = await add(kind);
  await remove(kind, id, keeper);
  return id;
}

const appeal = (kind: string, id: string, as: Visitor = owner, body: unknown = undefined) =>
  as.send(`/account/trash/${kind}/${id}/request-restore`, { method: 'POST', body });

async function statusOf(kind: string, id: string, as: Visitor, body: unknown = undefined): Promise<number> {
  return (await appeal(kind, id, as, body)).status;
}

const requestsFor = (id: string) =>
  library.deps.db.selectFrom('resource_requests').selectAll().where('target_id', '=', id).execute();
const eventsOf = (id: string) =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['actor_user_ref', 'impersonator_user_ref', 'subject_user_ref', 'target_kind', 'metadata'])
    .where('target_id', '=', id)
    .where('event', '=', 'request.created')
    .execute();

describe.each(['post', 'asset'] as const)('asking for the return of a %s of one’s own', (kind) => {
  // TRASH-6
  test('creates a pending request with the restore marker', async () => {
    const id = await taken(kind);
    const answer = await appeal(kind, id, owner, { reason: 'It is mine' });
    expect(answer.status).toBe(201);
    const [row] = await requestsFor(id);
    expect(JSON.parse(answer.text)).toEqual({
      id: row?.id,
      requester_user_ref: owner.ref,
      requester: { ref: owner.ref, username: 'owner', display_name: 'owner', avatar_url: null },
      target_kind: kind,
      target_id: id,
      requested_capability: 'content.restore.request',
      reason: 'It is mine',
      state: 'pending',
      requested_at: row?.requested_at,
      grant_expires_at: null,
    });
    expect(await eventsOf(id)).toEqual([
      {
        actor_user_ref: owner.ref,
        impersonator_user_ref: null,
        subject_user_ref: owner.ref,
        target_kind: kind,
        metadata: { request_id: row?.id, capability: 'content.restore.request' },
      },
    ]);
    // Asking restores nothing.
    expect((await owner.send(`/${kind}s/${id}`)).status).toBe(404);
  });

  // TRASH-6
  test('answers 200 with the pending request when asked again', async () => {
    const id = await taken(kind);
    const first = await appeal(kind, id, owner, { reason: 'first' });
    for (const body of [undefined, {}, { reason: 'second' }]) {
      const again = await appeal(kind, id, owner, body);
      expect([again.status, again.text]).toEqual([200, first.text]);
    }
    expect(await requestsFor(id)).toHaveLength(1);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  test('creates one request from twenty concurrent ones', async () => {
    const id = await taken(kind);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => appeal(kind, id, owner, { reason: `${n}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await requestsFor(id)).toHaveLength(1);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  test('allows a new request after a decision', async () => {
    const id = await taken(kind);
    for (const state of ['denied', 'granted', 'expired'] as const) {
      expect(await statusOf(kind, id, owner)).toBe(201);
      await library.deps.db
        .updateTable('resource_requests')
        .set({ state })
        .where('target_id', '=', id)
        .execute();
    }
    expect(await statusOf(kind, id, owner)).toBe(201);
    expect(await requestsFor(id)).toHaveLength(4);
  });

  test('is possible for an item that an unknown account deleted', async () => {
    const id = await add(kind);
    await remove(kind, id, owner);
    await sql`update ${tables[kind]} set deleted_by_user_ref = null where id = ${id}`.execute(
      library.deps.db,
    );
    expect(await statusOf(kind, id, owner)).toBe(201);
  });

  // TRASH-6
  test('is 409 for callers who may restore it themselves', async () => {
    const mine = await add(kind);
    await remove(kind, mine, owner);
    const answer = await appeal(kind, mine, owner);
    expect([answer.status, answer.text]).toEqual([409, '{"error":"you may restore it yourself"}']);
    const roots = await add(kind, root);
    await remove(kind, roots, keeper);
    expect(await statusOf(kind, roots, root)).toBe(409);
    expect([...(await requestsFor(mine)), ...(await requestsFor(roots))]).toEqual([]);
  });

  // TRASH-6
  test('returns 404 for an item that belongs to another account, is not deleted, is unknown or is of the other kind', async () => {
    const id = await taken(kind);
    const live = await add(kind);
    const otherKind = kind === 'post' ? 'asset' : 'post';
    const stranger = await library.join(`stranger ${kind}`);
    for (const [what, target, visitor] of [
      [kind, id, stranger],
      [kind, id, keeper],
      [kind, id, root],
      [kind, live, owner],
      [kind, live, root],
      [kind, crypto.randomUUID(), owner],
      [otherKind, id, owner],
    ] as const) {
      const answer = await appeal(what, target, visitor);
      expect([answer.status, answer.text]).toEqual([404, '{"error":"not found"}']);
    }
    expect(await requestsFor(id)).toEqual([]);
  });

  test('is 404 after it was restored', async () => {
    const id = await taken(kind);
    expect(await statusOf(kind, id, owner)).toBe(201);
    await keeper.ok(kind === 'post' ? 'restorePost' : 'restoreAsset', { params: { id } });
    expect(await statusOf(kind, id, owner)).toBe(404);
  });

  test('accepts an optional reason of up to 1000 characters', async () => {
    for (const [body, reason] of [
      [{ reason: 'ß'.repeat(1000) }, 'ß'.repeat(1000)],
      [{ reason: null }, undefined],
      [{}, undefined],
      [undefined, undefined],
    ] as const) {
      const answer = await appeal(kind, await taken(kind), owner, body);
      expect([answer.status, JSON.parse(answer.text).reason]).toEqual([201, reason]);
    }
  });

  test('belongs to the owner while impersonating; the audit event names both', async () => {
    const id = await taken(kind);
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: owner.ref }, body: undefined });
    expect(await statusOf(kind, id, mask)).toBe(201);
    expect(await requestsFor(id)).toMatchObject([{ requester_user_ref: owner.ref }]);
    expect(await eventsOf(id)).toMatchObject([
      { actor_user_ref: owner.ref, impersonator_user_ref: root.ref },
    ]);
    expect(await statusOf(kind, id, owner)).toBe(200);
  });
});
