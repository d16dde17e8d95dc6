import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openPair, postOf, rejectionsAt, rowsOf, send, settle, sharePost } from './installs.ts';

const { harbour, studio, peerOfOne } = await openPair();
const [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];

const target = (id: string) => ({ id, peer_id: peerOfOne });

describe('comments and likes on a shared post', () => {
  const threadOf = async (account: Visitor, id: string) =>
    (await account.ok('listComments', { params: { id } })).items.map(({ body }) => body).toSorted();
  const say = (id: string, body: string) => alice.ok('createComment', { params: { id }, body: { body } });
  const correct = (id: string, body: string) => alice.ok('updateComment', { params: { id }, body: { body } });
  const show = (id: string, visibility: 'private' | 'org-only') =>
    alice.ok('updatePost', { params: { id }, body: { visibility } });

  // FED-1, FED-35
  test('stay in the library while the post is private or a draft', async () => {
    const title = 'Not for long';
    const { id } = await sharePost(alice, peerOfOne, title, { scope: 'comment' });
    const first = await say(id, 'For everyone');
    await settle(harbour, studio);
    const before = await rejectionsAt(studio);
    await show(id, 'private');
    await settle(harbour, studio);
    await say(id, 'In private');
    await correct(first.id, 'For myself');
    await alice.ok('likePost', { params: { id } });
    await settle(harbour, studio);
    await alice.ok('unlikePost', { params: { id } });
    await show(id, 'org-only');
    await alice.ok('unpublishPost', { params: { id } });
    await settle(harbour, studio);
    await correct(first.id, 'In a draft');
    await settle(harbour, studio);
    // A comment that was sent would be refused, since the post is gone there.
    expect(await rejectionsAt(studio)).toEqual(before);
    const recorded = sql<{ count: number }>`select count(*) from federation_outbox
      where status = 'skipped' and (kind = 'comment' or activity in ('like', 'unlike'))`;
    expect(await rowsOf(harbour, recorded)).toEqual([{ count: 5 }]);
    await alice.ok('publishPost', { params: { id }, body: undefined });
    await say(id, 'For everyone again');
    await settle(harbour, studio);
    expect(await threadOf(bob, (await postOf(bob, title)).id)).toEqual(['For everyone again']);
    await alice.ok('deletePostPeer', { params: target(id) });
    await settle(harbour, studio);
  });

  // FED-20
  test('are the same there if the post was private only for a moment', async () => {
    const title = 'For a moment';
    const { id } = await sharePost(alice, peerOfOne, title, { scope: 'comment' });
    const [kept, removed] = [await say(id, 'Kept'), await say(id, 'Removed')];
    await settle(harbour, studio);
    await show(id, 'private');
    await correct(kept.id, 'Corrected');
    await alice.ok('deleteComment', { params: { id: removed.id } });
    await show(id, 'org-only');
    await settle(harbour, studio);
    expect(await threadOf(bob, (await postOf(bob, title)).id)).toEqual(['Corrected']);
    await alice.ok('deletePostPeer', { params: target(id) });
    await settle(harbour, studio);
  });

  // FED-32
  test('of the peer cannot be edited once the share does not allow comments, but deleted', async () => {
    const title = 'Open for a while';
    const { id } = await sharePost(alice, peerOfOne, title, { scope: 'comment' });
    await settle(harbour, studio);
    const post = { id: (await postOf(bob, title)).id };
    const mine = await bob.ok('createComment', { params: post, body: { body: 'Mine' } });
    await settle(studio, harbour);
    // The peer does not know of it yet.
    await alice.ok('putPostPeer', { params: target(id), body: { scope: 'view' } });
    await bob.ok('updateComment', { params: { id: mine.id }, body: { body: 'Smuggled in' } });
    await settle(studio);
    expect(await threadOf(alice, id)).toEqual(['Mine']);
    expect((await rejectionsAt(harbour))[0]).toBe('unshared_object');
    await bob.ok('deleteComment', { params: { id: mine.id } });
    await settle(studio, harbour);
    expect(await threadOf(alice, id)).toEqual([]);
    await alice.ok('deletePostPeer', { params: target(id) });
    await settle(harbour, studio);
  });

  // FED-1, FED-78
  test('are not sent once the share has ended, even if the peer asks for them again', async () => {
    const { id } = await sharePost(alice, peerOfOne, 'Shared once', { scope: 'comment' });
    const early = await say(id, 'Before');
    await alice.ok('likePost', { params: { id } });
    await settle(harbour, studio);
    const before = await rejectionsAt(studio);
    const late = await say(id, 'Waiting');
    await alice.ok('deletePostPeer', { params: target(id) });
    await settle(harbour, studio);
    await correct(early.id, 'After');
    const changes = sql<{
      activity_id: string;
      status: string;
    }>`select activity_id, status from federation_outbox
      where (kind = 'comment' or activity = 'like') and object_id in (${id}, ${early.id}, ${late.id}) order by seq`;
    const sent = await rowsOf(harbour, changes);
    expect(sent.map(({ status }) => status)).toEqual(['sent', 'sent', 'skipped']);
    const ids = sent.map(({ activity_id }) => `${harbour.address}/activities/${activity_id}`);
    await send(studio, harbour, { ids }, 'changes/resend');
    await settle(harbour, studio);
    expect(await rejectionsAt(studio)).toEqual(before);
    const statuses = (await rowsOf(harbour, changes)).map(({ status }) => status);
    expect(statuses).toEqual(['skipped', 'skipped', 'skipped']);
  });
});
