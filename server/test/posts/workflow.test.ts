import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { actAs, bearer, grant, revoke, setStatus } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { everyPost } from './people.ts';

/** The access matrix (server/test/access) shows who reads, lists and publishes drafts. */

const WIP = '00000000-0000-4000-8000-000000000201';
const PUBLISHED = '00000000-0000-4000-8000-000000000202';

const move = (who: Visitor, id: string, to: 'publish' | 'unpublish') =>
  who.send(`/posts/${id}/${to}`, { method: 'POST' });
const publishing = (who: Visitor, id: string) => who.ok('publishPost', { params: { id }, body: undefined });
const withdrawing = (who: Visitor, id: string) => who.ok('unpublishPost', { params: { id } });
const draftOf = (who: Account, body = {}) => publish(who, [asset], { draft: true, ...body });
const read = (who: Visitor, id: string) => who.ok('getPost', { params: { id } });

const eventsOf = (id: string) => auditEvents(library, { target_id: id });

const library = await openLibrary();
const [mara, stranger, editor] = await library.joinAll('mara', 'stranger', 'editor');
const root = await library.join('root', 'admin');
await grant(library, editor, 'posts.admin');
const asset = await upload(mara, plainFile());

// POST-11
describe('publish and unpublish', () => {
  // POST-6, POST-11
  test('move a post between wip and published, which draft reflects, and change nothing else', async () => {
    const body = { title: 'a', visibility: 'followers', tags: ['x'], comments_enabled: false };
    const draft = await draftOf(mara, body);
    expect(draft).toMatchObject({ draft: true, state_id: WIP });
    const published = await publishing(mara, draft.id);
    const { posted_at, updated_at } = published;
    expect(published).toEqual({ ...draft, state_id: PUBLISHED, draft: false, posted_at, updated_at });
    expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(draft.updated_at));
    expect(await withdrawing(mara, draft.id)).toMatchObject({ draft: true, state_id: WIP });
    expect(await read(mara, draft.id)).toMatchObject({ draft: true, state_id: WIP });
  });

  // POST-11
  test('answer 409 when nothing would change, without an event', async () => {
    const post = await publish(mara, [asset]);
    expect((await move(mara, post.id, 'publish')).status).toBe(409);
    const draft = await draftOf(mara);
    expect((await move(mara, draft.id, 'unpublish')).status).toBe(409);
    expect([await read(mara, post.id), await read(mara, draft.id)]).toEqual([post, draft]);
    expect([await eventsOf(post.id), await eventsOf(draft.id)]).toEqual([[], []]);
  });

  // POST-12
  test('posted_at is set by the first publication only', async () => {
    const draft = await draftOf(mara);
    const post = await publish(mara, [asset]);
    const moveTo = (time: string) =>
      sql`update posts set posted_at = ${time}, created_at = '2020-01-01T00:00:00Z'
        where id in (${draft.id}, ${post.id})`.execute(library.deps.db);
    await moveTo('2020-01-01T00:00:00Z');
    const before = Date.now();
    const first = await publishing(mara, draft.id);
    expect(Math.abs(Date.parse(first.posted_at) - before)).toBeLessThan(60_000);
    expect(first.created_at).toBe('2020-01-01T00:00:00Z');
    await moveTo('2021-01-01T00:00:00Z');
    for (const { id } of [draft, post]) {
      expect((await withdrawing(mara, id)).posted_at).toBe('2021-01-01T00:00:00Z');
      expect((await publishing(mara, id)).posted_at).toBe('2021-01-01T00:00:00Z');
    }
  });

  // POST-11
  test('are audited with account, impersonator and token', async () => {
    const draft = await draftOf(mara);
    await publishing(mara, draft.id);
    await withdrawing(editor, draft.id);
    await publishing(await actAs(library, root, mara), draft.id);
    await withdrawing(await bearer(library, mara, ['posts.write']), draft.id);
    const row = { target_kind: 'post', impersonator_user_ref: null, actor_user_ref: mara.ref };
    const impersonated_by = { ref: root.ref, username: 'root' };
    expect(await eventsOf(draft.id)).toMatchObject([
      { ...row, event: 'post.published' },
      { ...row, event: 'post.unpublished', actor_user_ref: editor.ref },
      { ...row, event: 'post.published', impersonator_user_ref: root.ref, metadata: { impersonated_by } },
      { ...row, event: 'post.unpublished', metadata: { token_id: expect.any(String) } },
    ]);
  });

  test('one of several concurrent calls succeeds and writes one event', async () => {
    const draft = await draftOf(mara);
    const all = (to: 'publish' | 'unpublish') =>
      Promise.all(Array.from({ length: 12 }, (_, i) => move(i % 2 ? mara : editor, draft.id, to)));
    for (const to of ['publish', 'unpublish', 'publish'] as const) {
      const statuses = (await all(to)).map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
    }
    const events = (await eventsOf(draft.id)).map(({ event }) => event);
    expect(events).toEqual(['post.published', 'post.unpublished', 'post.published']);
  });

  test('concurrent calls of both write one event per success, alternating', async () => {
    const draft = await draftOf(mara);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => move(mara, draft.id, i % 2 ? 'publish' : 'unpublish')),
    );
    const moved = answers.filter(({ status }) => status === 200).length;
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const published = (await eventsOf(draft.id)).filter(({ event }) => event === 'post.published').length;
    const withdrawn = (await eventsOf(draft.id)).length - published;
    expect(published + withdrawn).toBe(moved);
    expect(published - withdrawn).toBe((await read(mara, draft.id)).draft ? 0 : 1);
  });
});

// POST-13
test('publishing requires posts.publish of the author and of posts.admin', async () => {
  const ann = await library.join('ann');
  const viewer = await library.join('viewer', 'viewer');
  await grant(library, viewer, 'posts.admin');
  const draft = await draftOf(ann);
  await revoke(library, ann, 'posts.publish');
  const missing = { status: 403, error: 'missing capability posts.publish' };
  for (const who of [ann, viewer])
    for (const to of ['publishPost', 'unpublishPost'] as const)
      expect(await who.refused(to, { params: { id: draft.id } })).toEqual(missing);
  await grant(library, viewer, 'posts.publish');
  expect(await publishing(viewer, draft.id)).toMatchObject({ draft: false, author_user_ref: ann.ref });
});

describe('GET /posts?draft=true', () => {
  // POST-9
  test('draft=true lists only drafts, in the order and with the filters of the feed', async () => {
    const ann = await library.join('ann2');
    const first = await draftOf(ann, { tags: ['a'] });
    const second = await draftOf(ann, { tags: ['a', 'b'] });
    const published = await publish(ann, [asset]);
    const deleted = await draftOf(ann);
    await ann.ok('deletePost', { params: { id: deleted.id }, body: undefined });
    expect(await everyPost(ann, { draft: true, limit: 1 })).toEqual([second.id, first.id]);
    expect(await everyPost(ann, { draft: true, sort: 'oldest' })).toEqual([first.id, second.id]);
    expect(await everyPost(ann, { draft: true, tag: ['b'] })).toEqual([second.id]);
    expect(await everyPost(editor, { draft: true, author_ref: ann.ref })).toEqual([second.id, first.id]);
    expect(await everyPost(ann, { draft: false, author_ref: ann.ref })).toEqual([published.id]);
  });

  // FEED-12, POST-9
  test('posts.admin lists every draft, also those with withheld members', async () => {
    const hidden = await upload(mara, plainFile(), { status: 'draft' });
    const draft = await publish(mara, [hidden], { draft: true });
    const { items } = await editor.ok('listPosts', { query: { draft: true, limit: 200 } });
    expect(items.map(({ id }) => id)).toContain(draft.id);
  });
});

// POST-10
test('a draft does not restrict access to its member assets', async () => {
  const mine = await upload(mara, plainFile());
  await publish(mara, [mine], { draft: true, visibility: 'private' });
  expect(await stranger.ok('getAsset', { params: { id: mine.id } })).toMatchObject({ restricted: false });
  expect((await stranger.send(`/assets/${mine.id}/file`)).status).toBe(200);
  const { items } = await stranger.ok('listAssets');
  expect(items.map(({ id }) => id)).toContain(mine.id);
});

// POST-14
test('GET /workflow/states lists the states of a domain in order, none for an unknown domain', async () => {
  const states = [
    { id: WIP, domain: 'post', code: 'wip', label: 'Draft', sort_order: 1 },
    { id: PUBLISHED, domain: 'post', code: 'published', label: 'Published', sort_order: 2 },
  ];
  expect(await stranger.ok('listWorkflowStates', { query: { domain: 'post' } })).toEqual(states);
  expect(await stranger.ok('listWorkflowStates')).toEqual(expect.arrayContaining(states));
  expect(await stranger.ok('listWorkflowStates', { query: { domain: 'cheese' } })).toEqual([]);
});

describe('publish_at', () => {
  const { db } = library.deps;
  /** Ends with a zero, which PostgreSQL does not print. */
  const timeIn = (hours: number) =>
    `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)}.240Z`;
  const tomorrow = () => timeIn(24);
  const schedule = (who: Account, body = {}) => draftOf(who, { publish_at: tomorrow(), ...body });
  const change = (who: Visitor, id: string, body: object) => who.ok('updatePost', { params: { id }, body });
  /** Moves the clock to after the time of a draft. */
  async function pass({ id }: { id: string }): Promise<void> {
    await sql`update post_schedules set publish_at = now() - interval '1 second' where post_id = ${id}`.execute(
      db,
    );
    await sql`update graphile_worker._private_jobs set run_at = now() - interval '1 second'
      where key = ${`publish-post:${id}`}`.execute(db);
  }
  async function run(post: { id: string }): Promise<void> {
    await pass(post);
    await library.runJobs();
  }
  const kindsOf = async (who: Visitor) =>
    (await who.ok('listNotifications', { query: {} })).items.map(({ kind, post }) => `${kind} ${post?.id}`);

  // POST-47, HTTP-5
  test('publishes a draft at that time, as the account that set it', async () => {
    const at = tomorrow();
    const draft = await draftOf(mara, { publish_at: at, visibility: 'public' });
    expect(draft).toMatchObject({ draft: true, publish_at: at });
    await library.runJobs();
    expect(await read(mara, draft.id)).toMatchObject({ draft: true, publish_at: at });
    await run(draft);
    const published = await read(stranger, draft.id);
    expect(published).toMatchObject({ draft: false, state_id: PUBLISHED });
    expect(published).not.toHaveProperty('publish_at');
    expect(Date.parse(published.posted_at)).toBeGreaterThan(Date.parse(draft.created_at));
    expect(await eventsOf(draft.id)).toMatchObject([{ event: 'post.published', actor_user_ref: mara.ref }]);
    expect(await everyPost(stranger, { author_ref: mara.ref })).toContain(draft.id);
  });

  // POST-47, POST-49
  test('can be set, moved and cleared by those who may edit the draft', async () => {
    const draft = await draftOf(mara);
    const [first, second] = [tomorrow(), timeIn(1)];
    expect(await change(mara, draft.id, { publish_at: first })).toMatchObject({ publish_at: first });
    expect(await change(editor, draft.id, { publish_at: second })).toMatchObject({ publish_at: second });
    expect(await change(mara, draft.id, { title: 'b', publish_at: null })).toMatchObject({
      publish_at: second,
    });
    for (const who of [mara, editor]) expect((await listed(who, draft.id))?.publish_at).toBe(second);
    expect(await change(mara, draft.id, { clear_publish_at: true })).not.toHaveProperty('publish_at');
    await run(draft);
    expect(await read(mara, draft.id)).toMatchObject({ draft: true });
  });
  const listed = async (who: Visitor, id: string) =>
    (await who.ok('listPosts', { query: { draft: true, limit: 200 } })).items.find((post) => post.id === id);

  // POST-47
  test('does nothing when its job runs before the time or twice', async () => {
    const draft = await schedule(mara);
    await sql`update graphile_worker._private_jobs set run_at = now() where key = ${`publish-post:${draft.id}`}`.execute(
      db,
    );
    await library.runJobs();
    expect(await read(mara, draft.id)).toMatchObject({ draft: true, publish_at: draft.publish_at });
    const again = () =>
      sql`select graphile_worker.add_job('publish-post', ${JSON.stringify({ post: draft.id })}::json)`.execute(
        db,
      );
    await pass(draft);
    await Promise.all([again(), again()]);
    await library.runJobs();
    await withdrawing(mara, draft.id);
    await again();
    await library.runJobs();
    const events = (await eventsOf(draft.id)).map(({ event }) => event);
    expect(events).toEqual(['post.published', 'post.unpublished']);
  });

  // POST-47
  test('a killed job starts over and publishes once', async () => {
    const draft = await schedule(mara);
    await pass(draft);
    await sql
      .raw(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(4711); return new; end $$;
      create trigger waits before insert on audit_events for each row execute function wait()`)
      .execute(db);
    const killed = db.connection().execute(async (own) => {
      await sql`select pg_advisory_lock(4711)`.execute(own);
      const running = library.runJobs();
      expect(await comeToWait(db)).toBe(true);
      // The post is moved, and its event is being written.
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      expect(await read(mara, draft.id)).toMatchObject({ draft: true });
      await sql`select pg_advisory_unlock(4711)`.execute(own);
      return running;
    });
    await killed;
    await sql.raw('drop trigger waits on audit_events; drop function wait()').execute(db);
    await library.runJobs();
    expect(await read(mara, draft.id)).toMatchObject({ draft: false });
    expect((await eventsOf(draft.id)).map(({ event }) => event)).toEqual(['post.published']);
  });

  // POST-48, NOTICE-19
  test('fails without the rights at that time, and the author is notified', async () => {
    const ann = await library.join('ann3');
    const deputy = await library.join('deputy');
    await grant(library, deputy, 'posts.admin');
    const own = await schedule(ann);
    const others = await draftOf(ann);
    await change(deputy, others.id, { publish_at: tomorrow() });
    const script = await bearer(library, ann, ['posts.write']);
    const scripted = await draftOf(ann);
    await change(script, scripted.id, { publish_at: tomorrow() });
    await revoke(library, ann, 'posts.publish');
    await setStatus(library, deputy, 'disabled');
    await db.deleteFrom('access_tokens').where('user_ref', '=', ann.ref).execute();
    for (const post of [own, others, scripted]) await run(post);
    for (const { id } of [own, others, scripted]) {
      const post = await read(ann, id);
      expect(post).toMatchObject({ draft: true });
      expect(post).not.toHaveProperty('publish_at');
    }
    const failed = [scripted, others, own].map(({ id }) => `publish_failed ${id}`);
    expect(await kindsOf(ann)).toEqual(failed);
    await library.runJobs();
    expect(await kindsOf(ann)).toEqual(failed);
  });

  // POST-48
  test('fails when the editor who set it may no longer edit the draft', async () => {
    const helper = await library.join('helper');
    await grant(library, helper, 'posts.admin');
    const draft = await draftOf(mara);
    await change(helper, draft.id, { publish_at: tomorrow() });
    await revoke(library, helper, 'posts.admin');
    await run(draft);
    expect(await read(mara, draft.id)).toMatchObject({ draft: true });
    expect(await kindsOf(mara)).toContain(`publish_failed ${draft.id}`);
  });

  // POST-47
  test('is dropped when the draft is published earlier, and does not publish from the trash', async () => {
    const early = await schedule(mara);
    expect(await publishing(mara, early.id)).not.toHaveProperty('publish_at');
    await withdrawing(mara, early.id);
    const deleted = await schedule(mara);
    await mara.ok('deletePost', { params: { id: deleted.id }, body: undefined });
    await run(early);
    await run(deleted);
    await root.ok('restorePost', { params: { id: deleted.id } });
    for (const { id } of [early, deleted]) expect(await read(mara, id)).toMatchObject({ draft: true });
    expect(await kindsOf(mara)).not.toContain(`publish_failed ${deleted.id}`);
  });

  // POST-47
  test('is refused without a draft (409), in the past (400), and without posts.publish (403)', async () => {
    const past = '2020-01-01T00:00:00Z';
    const published = await publish(mara, [asset]);
    const draft = await draftOf(mara);
    const members = [{ asset_id: asset.id }];
    const create = (body: object) => mara.refused('createPost', { body: { members, ...body } });
    const patch = (who: Visitor, { id }: { id: string }, body: object) =>
      who.refused('updatePost', { params: { id }, body });
    expect((await create({ publish_at: tomorrow() })).status).toBe(409);
    expect((await create({ draft: false, publish_at: tomorrow() })).status).toBe(409);
    expect((await patch(mara, published, { publish_at: tomorrow() })).status).toBe(409);
    expect(await create({ draft: true, publish_at: past })).toEqual({
      status: 400,
      error: 'publish_at is in the past',
    });
    expect((await patch(mara, draft, { publish_at: past })).status).toBe(400);
    expect((await patch(mara, draft, { publish_at: tomorrow(), clear_publish_at: true })).status).toBe(400);
    for (const publish_at of ['soon', 5, '2026-13-01T00:00:00Z'])
      expect(
        (await mara.send(`/posts/${draft.id}`, { method: 'PATCH', body: JSON.stringify({ publish_at }) }))
          .status,
      ).toBe(400);
    const writer = await library.join('writer');
    await revoke(library, writer, 'posts.publish');
    const mine = await draftOf(writer);
    const missing = { status: 403, error: 'missing capability posts.publish' };
    expect(await patch(writer, mine, { publish_at: tomorrow() })).toEqual(missing);
    expect((await patch(stranger, draft, { publish_at: tomorrow() })).status).toBe(404);
    expect(await read(mara, published.id)).toEqual(published);
    expect(await read(mara, draft.id)).toEqual(draft);
  });
});
