import type { Approvals } from '@vitrine/contract/approvals';
import type { PostAction } from '@vitrine/contract/batches';
import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Answered, Visitor } from '../support/client.ts';
import { type Account, formOf, openLibrary, publish, upload } from '../support/library.ts';
import { grant, nowhere, setStatus } from '../support/people.ts';
import { plainText } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [mara, bob, eve] = await library.joinAll('mara', 'bob', 'eve');
const deputy = await library.join('deputy');
await grant(library, deputy, ['posts.admin', 'posts.approve.override']);

const need = (approvals: Partial<Approvals>) => root.ok('updateApprovals', { body: approvals });
const none = { publish: { required: 0 }, public_audience: { required: 0 }, links: { required: 0 } };
beforeEach(async () => {
  await need(none);
});

let count = 0;
const file = async (who: Account = mara) => {
  count += 1;
  return upload(who, plainText(`text ${count}`), { sensitivity: 'posts' }, 'a.txt');
};
const draft = async (body = {}, who: Account = mara) =>
  publish(who, [await file(who)], { draft: true, ...body });
const askFor = async ({ id }: Post, ...reviewers: Account[]) =>
  mara.ok('requestReview', { params: { id }, body: { reviewers: reviewers.map(({ ref }) => ref) } });
const approve = (
  who: Account,
  { id }: { id: string },
  decision: 'approved' | 'changes_requested' = 'approved',
) => who.ok('decideReview', { params: { id }, body: { decision } });
const approvedDraft = async (by: Account[], body = {}) => {
  const post = await draft(body);
  const review = await askFor(post, ...by);
  for (const who of by) await approve(who, review);
  return { post, review };
};

const send = (who: Visitor, path: string, body: unknown = {}, method = 'POST') =>
  who.send(path, { method, body });
const publishing = (post: Post, who: Visitor = mara, body = {}) =>
  send(who, `/posts/${post.id}/publish`, body);
const codeOf = ({ status, headers, text }: Answered) =>
  `${status} ${text} ${headers.get('vitrine-error')?.replaceAll(/;\s*/g, '; ')}`;
const lacks = (required: number, approved: number, missing = '') =>
  `409 {"error":"approval_required"} approval-required; required=${required}; approved=${approved}; missing="${missing}"`;
const overrides = async ({ id }: { id: string }) =>
  (await auditEvents(library, { target_id: id })).filter(({ event }) => event === 'approval.overridden');

const DRAFT = '00000000-0000-4000-8000-000000000201';
const PUBLISHED = '00000000-0000-4000-8000-000000000202';

describe('publishing', () => {
  // APPROVAL-1, APPROVAL-2
  test('needs the approvals of different people, and names those who are missing', async () => {
    await need({ publish: { required: 2 } });
    const post = await draft();
    expect(codeOf(await publishing(post))).toBe(lacks(2, 0));
    const review = await askFor(post, bob, eve);
    expect(codeOf(await publishing(post))).toBe(lacks(2, 0, 'bob eve'));
    await approve(bob, review);
    await approve(bob, await askFor(post, bob));
    expect(codeOf(await publishing(post))).toBe(lacks(2, 1, 'eve'));
    await approve(eve, review, 'changes_requested');
    expect(codeOf(await publishing(post))).toBe(lacks(2, 1, 'eve'));
    await approve(eve, review);
    expect((await publishing(post)).status).toBe(200);
  });

  // APPROVAL-2
  test('counts the latest decision of an active account on the present version, and not the author’s', async () => {
    await need({ publish: { required: 1 } });
    const { post, review } = await approvedDraft([bob]);
    await mara.ok('addAssetVersion', {
      params: { id: post.members[0]?.asset_id ?? '' },
      body: formOf(plainText('new words'), {}, 'b.txt'),
    });
    expect(codeOf(await publishing(post))).toBe(lacks(1, 0, 'bob'));
    await root.ok('updateWorkflow', { body: { reopen_on_change: false } });
    expect(await overrides(post)).toEqual([]);
    await root.ok('updateWorkflow', { body: { reopen_on_change: true } });
    await approve(bob, review);
    await approve(bob, await askFor(post, bob), 'changes_requested');
    expect(codeOf(await publishing(post))).toBe(lacks(1, 0, 'bob'));
    await approve(bob, review);
    await setStatus(library, bob, 'disabled');
    expect(codeOf(await publishing(post))).toBe(lacks(1, 0));
    await setStatus(library, bob, 'active');
    const own = await draft();
    await approve(mara, await askFor(own, mara));
    expect(codeOf(await publishing(own))).toBe(lacks(1, 0));
    expect((await publishing(post)).status).toBe(200);
  });

  // APPROVAL-2
  test('counts approvals of earlier versions only while reopen_on_change is off', async () => {
    await need({ publish: { required: 1 } });
    const { post } = await approvedDraft([bob]);
    // Changed behind the back of everything that counts versions.
    await sql`insert into post_members (post_id, asset_id, sort_order) values (${post.id}, ${(await file()).id}, 9)`.execute(
      db,
    );
    expect(codeOf(await publishing(post))).toBe(lacks(1, 0, 'bob'));
    await root.ok('updateWorkflow', { body: { reopen_on_change: false } });
    expect((await publishing(post)).status).toBe(200);
    await root.ok('updateWorkflow', { body: { reopen_on_change: true } });
  });

  // APPROVAL-2
  test('counts only members of the team of the gate', async () => {
    const team = await root.ok('createTeam', { body: { name: 'Direction' } });
    await root.ok('addTeamMember', { params: { id: team.id, user_ref: eve.ref } });
    await need({ publish: { required: 1, team_id: team.id } });
    const { post } = await approvedDraft([bob]);
    expect(codeOf(await publishing(post))).toBe(lacks(1, 0));
    await approve(eve, await askFor(post, eve));
    expect((await publishing(post)).status).toBe(200);
  });

  // APPROVAL-1
  test('is gated when a post is created without a draft, by publish_at and in a batch', async () => {
    await need({ publish: { required: 1 } });
    const members = [{ asset_id: (await file()).id }];
    expect(codeOf(await send(mara, '/posts', { members }))).toBe(lacks(1, 0));
    expect(
      (await mara.ok('listPosts', { query: { author_ref: mara.ref, asset: members[0]?.asset_id ?? '' } }))
        .items,
    ).toEqual([]);
    const scheduled = await draft({ publish_at: new Date(Date.now() + 86_400_000).toISOString() });
    const pass = async () => {
      await sql`update post_schedules set publish_at = now() - interval '1 minute'`.execute(db);
      await sql`update graphile_worker._private_jobs set run_at = now() where key = ${`publish-post:${scheduled.id}`}`.execute(
        db,
      );
      await library.runJobs();
    };
    await pass();
    const isDraft = async (post: Post) => (await mara.ok('getPost', { params: { id: post.id } })).draft;
    expect(await isDraft(scheduled)).toBe(true);
    const { items } = await mara.ok('listNotifications', { query: {} });
    expect(items.map(({ kind, post }) => `${kind} ${post?.id}`)).toContain(`publish_failed ${scheduled.id}`);
    const [waiting, { post: approved }] = [await draft(), await approvedDraft([bob])];
    const batch = {
      ids: [waiting.id, approved.id],
      action: { kind: 'set_state' as const, state_id: PUBLISHED },
    };
    const preview = JSON.parse((await send(mara, '/posts/batch', { ...batch, dry_run: true })).text);
    expect(preview).toMatchObject({
      changes: 1,
      refused: [{ reason: 'approval_required', ids: [waiting.id] }],
    });
    await mara.ok('batchPosts', { body: batch });
    await library.runJobs();
    expect([await isDraft(waiting), await isDraft(approved)]).toEqual([true, false]);
    const create = { ids: [members[0]?.asset_id], action: { kind: 'create_post' }, dry_run: true };
    const refusal = await send(mara, '/assets/batch', create);
    expect(refusal.text).toContain('approval_required');
  });

  // APPROVAL-1
  test('is gated when a batch is undone, and so is a public audience', async () => {
    const withdrawn = await publish(mara, [await file()]);
    const narrowed = await publish(mara, [await file()], { visibility: 'public' });
    const run = async ({ id }: Post, action: PostAction) => {
      const answer = await mara.ok('batchPosts', { body: { ids: [id], action } });
      await library.runJobs();
      return 'job_id' in answer ? answer.job_id : '';
    };
    const batches = [
      await run(withdrawn, { kind: 'set_state', state_id: DRAFT }),
      await run(narrowed, { kind: 'set_visibility', visibility: 'private' }),
    ];
    await need({ publish: { required: 1 }, public_audience: { required: 1 } });
    for (const id of batches) {
      const { job_id } = await mara.ok('undoBatch', { params: { id } });
      await library.runJobs();
      const undone = await mara.ok('getBatch', { params: { id: job_id } });
      expect(undone.refused).toMatchObject([{ reason: 'approval_required' }]);
    }
    expect(await mara.ok('getPost', { params: { id: withdrawn.id } })).toMatchObject({ draft: true });
    const kept = await mara.ok('getPost', { params: { id: narrowed.id } });
    expect(kept).toMatchObject({ visibility: 'private' });
  });
});

describe('a public audience', () => {
  // APPROVAL-1
  test('is gated when a public draft is published and when a published post becomes public', async () => {
    await need({ public_audience: { required: 1 } });
    expect((await publishing(await draft())).status).toBe(200);
    const open = await draft({ visibility: 'public' });
    expect(codeOf(await publishing(open))).toBe(lacks(1, 0));
    const members = [{ asset_id: (await file()).id }];
    expect(codeOf(await send(mara, '/posts', { members, visibility: 'public' }))).toBe(lacks(1, 0));
    const post = await publish(mara, [await file()]);
    const opening = { visibility: 'public', title: 'changed' };
    expect(codeOf(await send(mara, `/posts/${post.id}`, opening, 'PATCH'))).toBe(lacks(1, 0));
    expect((await mara.ok('getPost', { params: { id: post.id } })).title).not.toBe('changed');
    const batch = {
      ids: [post.id],
      action: { kind: 'set_visibility' as const, visibility: 'public' as const },
    };
    const preview = JSON.parse((await send(mara, '/posts/batch', { ...batch, dry_run: true })).text);
    expect(preview).toMatchObject({ changes: 0, refused: [{ reason: 'approval_required' }] });
    await approve(bob, await askFor(post, bob));
    expect((await send(mara, `/posts/${post.id}`, opening, 'PATCH')).status).toBe(200);
    // A change that does not open it needs nothing.
    await mara.ok('updatePost', { params: { id: post.id }, body: { visibility: 'org-only' } });
  });
});

describe('links', () => {
  // APPROVAL-4
  test('of posts are gated, and links of collections leave out posts without approvals', async () => {
    const members = [await file()];
    const [post, other] = [await publish(mara, members), await publish(mara, members)];
    await need({ links: { required: 1 } });
    expect(codeOf(await send(mara, `/posts/${post.id}/links`))).toBe(lacks(1, 0));
    const collection = await mara.ok('createCollection', { body: { name: 'Both', visibility: 'private' } });
    for (const { id } of [post, other])
      await mara.ok('addToCollection', { params: { id: collection.id, post_id: id } });
    const { token } = await mara.ok('createCollectionLink', {
      params: { id: collection.id },
      body: undefined,
    });
    const shown = async () => {
      const { text } = await mara.send(`/links/${token}`);
      return [post, other].filter(({ id }) => text.includes(id)).length;
    };
    expect(await shown()).toBe(0);
    await approve(bob, await askFor(post, bob));
    expect(await shown()).toBe(1);
    const link = await mara.ok('createPostLink', { params: { id: post.id }, body: undefined });
    await need({ links: { required: 2 } });
    expect(codeOf(await send(mara, `/links/${link.id}/renew`))).toBe(lacks(2, 1));
    const change = (who: Visitor, body: object) => send(who, `/links/${link.id}`, body, 'PATCH');
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    expect((await change(mara, { expires_at })).status).toBe(200);
    await sql`update share_links set expires_at = now() - interval '1 minute' where id = ${link.id}`.execute(
      db,
    );
    expect((await change(mara, { label: 'For the client' })).status).toBe(200);
    for (const body of [{ expires_at }, { clear_expires_at: true }])
      expect(codeOf(await change(mara, body))).toBe(lacks(2, 1));
    expect((await change(deputy, { expires_at, override_reason: 'Agreed by phone' })).status).toBe(200);
    expect((await overrides(post)).map(({ metadata }) => metadata)).toMatchObject([{ gate: 'links' }]);
    const [asset] = members;
    expect((await send(mara, `/assets/${asset?.id}/links`)).status).toBe(201);
  });
});

describe('an override', () => {
  // APPROVAL-5
  test('needs a reason and posts.approve.override, and is audited with the gate', async () => {
    await need({ publish: { required: 1 }, public_audience: { required: 2 } });
    const post = await draft({ visibility: 'public' });
    const override_reason = 'The client waits';
    expect((await publishing(post, mara, { override_reason })).status).toBe(403);
    expect(codeOf(await publishing(post, root))).toBe(lacks(2, 0));
    expect((await publishing(post, deputy, { override_reason: ' ' })).status).toBe(400);
    expect((await publishing(post, deputy, { override_reason })).status).toBe(200);
    expect((await overrides(post)).map(({ metadata }) => metadata)).toEqual(
      expect.arrayContaining([
        { gate: 'publish', required: 1, approved: 0, reason: override_reason },
        { gate: 'public_audience', required: 2, approved: 0, reason: override_reason },
      ]),
    );
    await need(none);
    const free = await draft({}, deputy);
    expect((await publishing(free, deputy, { override_reason })).status).toBe(200);
    expect(await overrides(free)).toEqual([]);
  });

  // APPROVAL-3, APPROVAL-5
  test('is kept with a scheduled draft and a batch', async () => {
    await need({ publish: { required: 1 } });
    const override_reason = 'Agreed by phone';
    const publish_at = new Date(Date.now() + 86_400_000).toISOString();
    const scheduled = await draft({ publish_at, override_reason }, deputy);
    await sql`update post_schedules set publish_at = now() - interval '1 minute'`.execute(db);
    await sql`update graphile_worker._private_jobs set run_at = now() where key = ${`publish-post:${scheduled.id}`}`.execute(
      db,
    );
    const batched = await draft({}, deputy);
    const action = { kind: 'set_state' as const, state_id: PUBLISHED, override_reason };
    await deputy.ok('batchPosts', { body: { ids: [batched.id], action } });
    await library.runJobs();
    for (const post of [scheduled, batched]) {
      expect((await deputy.ok('getPost', { params: { id: post.id } })).draft).toBe(false);
      expect(await overrides(post)).toHaveLength(1);
    }
  });
});

describe('the settings', () => {
  // APPROVAL-6
  test('are read and written by operators, each gate as a whole', async () => {
    const before = await need({ publish: { required: 3 } });
    expect(before).toEqual({ ...none, publish: { required: 3 } });
    expect(await need({ links: { required: 1 } })).toEqual({ ...before, links: { required: 1 } });
    const path = '/admin/system/approvals';
    for (const body of [
      { publish: { required: 11 } },
      { publish: { required: -1 } },
      { publish: {} },
      { publish: { required: 1.5 } },
      { review: { required: 1 } },
    ])
      expect(await root.status('PATCH', path, body), JSON.stringify(body)).toBe(400);
    expect(await root.status('PATCH', path, { publish: { required: 1, team_id: nowhere } })).toBe(404);
    expect([await mara.status('GET', path), await mara.status('PATCH', path, {})]).toEqual([403, 403]);
    expect((await auditEvents(library, { event: 'system.approvals.changed' })).length).toBeGreaterThan(0);
  });
});
