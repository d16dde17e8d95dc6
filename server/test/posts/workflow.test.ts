import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, revoke } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { everyPost } from './people.ts';

/** The access matrix (server/test/access) shows who reads, lists and publishes drafts. */

const WIP = '00000000-0000-4000-8000-000000000201';
const PUBLISHED = '00000000-0000-4000-8000-000000000202';

const move = (who: Visitor, id: string, to: 'publish' | 'unpublish') =>
  who.send(`/posts/${id}/${to}`, { method: 'POST' });
const publishing = (who: Visitor, id: string) => who.ok('publishPost', { params: { id } });
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
