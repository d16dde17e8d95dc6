import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** The access matrix (server/test/access/surfaces/trash.ts) shows who may ask for what. */

type Kind = 'post' | 'asset';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [owner, keeper] = await library.joinAll('owner', 'keeper');
await grant(library, keeper, ['posts.admin', 'assets.admin']);
const file = await upload(owner, plainFile());
const [hash, member] = [file.file_hash ?? '', file.id];

const tables = { post: sql.table('posts'), asset: sql.table('assets') };

/** Creates an item of the owner and deletes it. Returns its id. */
async function taken(kind: Kind, by: Account = keeper): Promise<string> {
  const { id } =
    kind === 'post'
      ? await publish(owner, [{ id: member }])
      : await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
  await by.ok(kind === 'post' ? 'deletePost' : 'deleteAsset', { params: { id }, body: undefined });
  return id;
}

const appeal = (kind: Kind, id: string, body?: unknown, as: Visitor = owner) =>
  as.send(`/account/trash/${kind}/${id}/request-restore`, { method: 'POST', body });
const requestsFor = (id: string) =>
  db.selectFrom('resource_requests').selectAll().where('target_id', '=', id).execute();
const eventsOf = (id: string) => auditEvents(library, { target_id: id, event: 'request.created' });

describe.each(['post', 'asset'] as const)('asking for the return of a %s of one’s own', (kind) => {
  // TRASH-6
  test('creates a pending request, which is returned when asked again', async () => {
    const id = await taken(kind);
    const answer = await appeal(kind, id, { reason: 'It is mine' });
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
    for (const body of [undefined, {}, { reason: 'second' }]) {
      const again = await appeal(kind, id, body);
      expect([again.status, again.text]).toEqual([200, answer.text]);
    }
    expect(await requestsFor(id)).toHaveLength(1);
    const metadata = { request_id: row?.id, capability: 'content.restore.request' };
    const by = { actor_user_ref: owner.ref, impersonator_user_ref: null, subject_user_ref: owner.ref };
    expect(await eventsOf(id)).toMatchObject([{ ...by, target_kind: kind, metadata }]);
    // Asking restores nothing.
    expect(await owner.status('GET', `/${kind}s/${id}`)).toBe(404);
    await keeper.ok(kind === 'post' ? 'restorePost' : 'restoreAsset', { params: { id } });
    expect((await appeal(kind, id)).status).toBe(404);
  });

  test('creates one request from ten concurrent ones', async () => {
    const id = await taken(kind);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => appeal(kind, id, { reason: `${n}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect([await requestsFor(id), await eventsOf(id)]).toMatchObject([[{}], [{}]]);
  });

  test('allows a new request after a decision, also while impersonated; the audit event names both', async () => {
    const id = await taken(kind);
    for (const state of ['denied', 'granted', 'expired'] as const) {
      expect((await appeal(kind, id, { reason: 'ß'.repeat(1000) })).status).toBe(201);
      await db.updateTable('resource_requests').set({ state }).where('target_id', '=', id).execute();
    }
    const mask = await actAs(library, root, owner);
    expect((await appeal(kind, id, { reason: null }, mask)).status).toBe(201);
    const requests = await requestsFor(id);
    const requesters = requests.map(({ requester_user_ref }) => requester_user_ref);
    expect(requesters).toEqual([owner.ref, owner.ref, owner.ref, owner.ref]);
    const both = { actor_user_ref: owner.ref, impersonator_user_ref: root.ref };
    expect((await eventsOf(id)).at(-1)).toMatchObject(both);
  });

  // TRASH-6
  test('is 409 for callers who may restore it themselves, not for an item that an unknown account deleted', async () => {
    const id = await taken(kind, owner);
    const answer = await appeal(kind, id);
    expect([answer.status, answer.text]).toEqual([409, '{"error":"you may restore it yourself"}']);
    expect(await requestsFor(id)).toEqual([]);
    await sql`update ${tables[kind]} set deleted_by_user_ref = null where id = ${id}`.execute(db);
    expect((await appeal(kind, id)).status).toBe(201);
  });
});
