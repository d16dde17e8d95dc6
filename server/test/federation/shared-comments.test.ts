import type { Stroke } from '@vitrine/contract/strokes';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import {
  envelopeOf,
  noteOf,
  openPair,
  postOf,
  reasonOf,
  rejectionsAt,
  rowsOf,
  send,
  settle,
  sharePost,
} from './installs.ts';

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

  // FED-32
  test('of the peer have its latest text, however it writes the time', async () => {
    const { id } = await sharePost(alice, peerOfOne, 'Far away', { scope: 'comment' });
    await settle(harbour, studio);
    const note = noteOf(studio, bob, `${harbour.address}/posts/${id}`);
    const receive = async (type: 'Create' | 'Update', content: string, updated: string) =>
      send(studio, harbour, await envelopeOf(studio, bob, { type, object: { ...note, content, updated } }));
    await receive('Create', 'At noon', '2026-06-04T12:00:00Z');
    await receive('Update', 'An hour later', '2026-06-04T05:00:00-08:00');
    await receive('Update', 'Half a second later', '2026-06-04T13:00:00.5Z');
    await receive('Update', 'Before', '2026-06-04T13:30:00+01:00');
    expect(await threadOf(alice, id)).toEqual(['Half a second later']);
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

describe('annotations of a shared post', () => {
  const anchor = { kind: 'point', x: 0.25, y: 0.5 } as const;
  const stroke: Stroke = {
    points: [
      [0.1, 0.2],
      [0.3, 0.4],
    ],
  };
  const threadOf = async (account: Visitor, id: string) =>
    (await account.ok('listComments', { params: { id } })).items.toReversed();
  const annotate = (account: Visitor, id: string, asset_id: string, what: object) =>
    account.ok('createAnnotation', { params: { id }, body: { asset_id, anchor, ...what } });
  const filesOf = async (account: Visitor, id: string) =>
    (await account.ok('getPost', { params: { id } })).members.map(({ asset_id }) => asset_id);

  // FED-100
  test('go both ways with their places, drawings and answers', async () => {
    const title = 'Place by place';
    const { id, asset } = await sharePost(alice, peerOfOne, title, { scope: 'comment' });
    await annotate(alice, id, asset.id, { body: 'Brighter', strokes: [stroke] });
    await settle(harbour, studio);
    const mirror = (await postOf(bob, title)).id;
    const [file = ''] = await filesOf(bob, mirror);
    const [received] = await threadOf(bob, mirror);
    expect(received).toMatchObject({
      body: 'Brighter',
      remote_display_name: 'alice',
      annotation: { asset_id: file, version: 1, anchor, strokes: [stroke] },
    });
    await bob.ok('createComment', {
      params: { id: mirror },
      body: { body: 'How much?', parent_id: received?.id ?? '' },
    });
    await annotate(bob, mirror, file, { body: 'And this' });
    await settle(studio, harbour);
    const [first, second] = await threadOf(alice, id);
    expect(first?.replies).toMatchObject([{ body: 'How much?', remote_display_name: 'bob' }]);
    expect(second).toMatchObject({
      body: 'And this',
      annotation: { asset_id: asset.id, version: 1, anchor },
    });
    // They are no comments on the post as a whole.
    expect((await alice.ok('getPost', { params: { id } })).comment_count).toBe(0);
    await alice.ok('deletePostPeer', { params: target(id) });
    await settle(harbour, studio);
  });

  // FED-100
  test('are plain comments for a peer that does not know places, which gets no mere drawing', async () => {
    const title = 'Words only';
    const known = (to: string) =>
      sql`update federation_peers set capabilities = ${sql.raw(to)}`.execute(harbour.database.db);
    await known(`array_remove(capabilities, 'annotations-v1')`);
    const { id, asset } = await sharePost(alice, peerOfOne, title, { scope: 'comment' });
    await annotate(alice, id, asset.id, { body: 'In words' });
    await annotate(alice, id, asset.id, { strokes: [stroke] });
    const before = await rejectionsAt(studio);
    await settle(harbour, studio);
    const thread = await threadOf(bob, (await postOf(bob, title)).id);
    expect(thread.map(({ body, annotation }) => [body, annotation])).toEqual([['In words', undefined]]);
    expect(await rejectionsAt(studio)).toEqual(before);
    await known(`capabilities || 'annotations-v1'::text`);
    await alice.ok('deletePostPeer', { params: target(id) });
    await settle(harbour, studio);
  });

  // FED-100
  test('of files that are not sent stay here, and none about them is taken', async () => {
    const title = 'Two files';
    const { id, asset } = await sharePost(alice, peerOfOne, title, { scope: 'comment' });
    const hidden = await upload(alice, plainFile('hidden'), { sensitivity: 'org' });
    const members = [{ asset_id: asset.id }, { asset_id: hidden.id }];
    await alice.ok('updatePost', { params: { id }, body: { members } });
    const secret = await annotate(alice, id, hidden.id, { body: 'Not for peers' });
    await settle(harbour, studio);
    const mirror = (await postOf(bob, title)).id;
    expect(await threadOf(bob, mirror)).toEqual([]);
    const answerTo = async (uri: string, more: object) => {
      const body = { type: 'Create', object: noteOf(studio, bob, uri, more) };
      return reasonOf(send(studio, harbour, await envelopeOf(studio, bob, body)));
    };
    const post = `${harbour.address}/posts/${id}`;
    const annotation = { asset: `${harbour.address}/assets/${hidden.id}`, anchor };
    const reasons = [
      await answerTo(post, { annotation }),
      await answerTo(`${post}#comment-${secret.id}`, {}),
      await answerTo(post, { content: ' ' }),
    ];
    expect(reasons).toEqual(['unknown_object', 'unknown_object', 'malformed']);
    expect((await threadOf(alice, id)).map(({ body }) => body)).toEqual(['Not for peers']);
  });
});
