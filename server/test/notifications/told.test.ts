import { beforeEach, describe, expect, test } from 'vitest';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { actAs, grant, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { comment, news, publisher, settle, told, unread } from './telling.ts';

let author: Account;
let anna: Account;
let ben: Account;
let write: ReturnType<typeof publisher>;
let round = 0;

const library = await openLibrary();
const root = await library.join('root', 'admin');

beforeEach(async () => {
  round += 1;
  [author, anna, ben] = await library.joinAll(`author${round}`, `anna${round}`, `ben${round}`);
  write = publisher(author);
});

describe('a comment', () => {
  // NOTICE-2
  test('notifies the author of the post, or of the comment it replies to, but not its own', async () => {
    const post = await write({ title: 'A tower' });
    const first = await comment(anna, post, 'How tall!');
    const reply = await comment(ben, post, 'no', first.id);
    await comment(author, post, `I, @${author.username}, say so`, reply.id);
    const byAuthor = `reply ${author.username} A tower`;
    expect(await news(library, anna)).toEqual([byAuthor, `reply ${ben.username} A tower`]);
    expect(await news(library, ben)).toEqual([byAuthor]);
    expect(await told(library, author)).toMatchObject([
      { kind: 'comment', actor: { ref: ben.ref } },
      {
        kind: 'comment',
        actor: { ref: anna.ref, username: anna.username },
        actor_count: 1,
        post: { id: post.id, title: 'A tower' },
        comment: { id: first.id, parent_id: null, excerpt: 'How tall!' },
        read: false,
      },
    ]);
  });

  // NOTICE-2
  test('notifies once for several reasons', async () => {
    const post = await write({ title: 'T' });
    const first = await comment(author, post);
    await author.ok('watchPost', { params: { id: post.id } });
    await comment(anna, post, `@${author.username} @${author.username.toUpperCase()}: look`, first.id);
    expect(await news(library, author)).toEqual([`mention ${anna.username} T`]);
  });

  test('notifies newly mentioned accounts once when it is edited', async () => {
    const post = await write({ title: 'T' });
    const { id } = await comment(anna, post, 'hm');
    for (const body of [`hm, @${ben.username}`, `hm, @${ben.username}!`, `hm, @${author.username}`]) {
      await settle(library);
      await anna.ok('updateComment', { params: { id }, body: { body } });
    }
    expect(await news(library, ben)).toEqual([`mention ${anna.username} T`]);
    expect(await news(library, author)).toEqual([`comment ${anna.username} T`]);
  });
});

// NOTICE-7
describe('watching a post', () => {
  const watches = async (who: Account, id: string) => (await who.ok('getWatch', { params: { id } })).watching;

  // NOTICE-7
  test('begins automatically for the author and for commenters, and not again once stopped', async () => {
    const post = await write({ title: 'T' });
    const params = { id: post.id };
    expect([await watches(author, post.id), await watches(anna, post.id)]).toEqual([true, false]);
    await comment(anna, post);
    expect(await watches(anna, post.id)).toBe(true);
    await comment(ben, post);
    expect(await news(library, anna)).toEqual([`watched_comment ${ben.username} T`]);
    expect(await anna.ok('unwatchPost', { params })).toEqual({ watching: false });
    await comment(anna, post);
    await comment(ben, post);
    expect(await news(library, anna)).toHaveLength(1);
    expect(await watches(anna, post.id)).toBe(false);
    expect(await anna.ok('watchPost', { params })).toEqual({ watching: true });
  });

  test('can be stopped by the author, who is still notified of mentions', async () => {
    const post = await write({ title: 'T' });
    await author.ok('unwatchPost', { params: { id: post.id } });
    await comment(anna, post);
    await comment(ben, post, `@${author.username}`);
    expect(await news(library, author)).toEqual([`mention ${ben.username} T`]);
  });
});

describe('a mention in a post’s description', () => {
  test('notifies those who may read it once, when the post is published', async () => {
    const draft = await write({ title: 'T', draft: true, description: `with @${anna.username}.` });
    expect(await news(library, anna)).toEqual([]);
    await author.ok('publishPost', { params: { id: draft.id }, body: undefined });
    await author.ok('updatePost', { params: { id: draft.id }, body: { title: 'U' } });
    await ben.ok('followUser', { params: { ref: author.ref } });
    const both = `@${ben.username} @${anna.username}`;
    await write({ title: 'P', visibility: 'private', description: both });
    await write({ title: 'F', visibility: 'followers', description: both });
    expect(await news(library, anna)).toEqual([`mention ${author.username} U`]);
    expect(await news(library, ben)).toEqual([`mention ${author.username} F`]);
  });

  // NOTICE-4
  test('is not a mail address or part of a word, and may quote a name with spaces', async () => {
    const blank = await library.join(`Ada King ${round}`);
    const post = await write({ title: 'T', description: `me@${anna.username} x@${ben.username}` });
    // A name whose last letter is a combining mark.
    const marked = await library.join('अनीता');
    await comment(author, post, `dear @"ada king ${round}", @${marked.username}, and (@${ben.username})`);
    expect(await news(library, anna)).toEqual([]);
    for (const one of [blank, marked, ben])
      expect(await news(library, one)).toEqual([`mention ${author.username} T`]);
  });
});

describe('likes', () => {
  const like = (who: Account, id: string) => who.ok('likePost', { params: { id } });

  // NOTICE-3
  test('share one unread notification per post, with a count, and start another after it was read', async () => {
    const post = await write({ title: 'T' });
    for (const one of [anna, author, ben]) {
      await like(one, post.id);
      // The jobs of likes at the same time may run in any order.
      await settle(library);
    }
    expect(await told(library, author)).toMatchObject([
      { kind: 'like', actor_count: 2, actor: { ref: ben.ref }, read: false },
    ]);
    expect(await unread(author)).toBe(1);
    await author.ok('readAllNotifications');
    await like(root, post.id);
    expect(await told(library, author)).toMatchObject([
      { actor_count: 1, actor: { ref: root.ref }, read: false },
      { actor_count: 2, read: true },
    ]);
  });

  test('notify once when withdrawn and given again', async () => {
    const post = await write({ title: 'T' });
    await like(anna, post.id);
    await settle(library);
    await author.ok('readAllNotifications');
    await anna.ok('unlikePost', { params: { id: post.id } });
    expect(await told(library, author)).toEqual([]);
    await like(anna, post.id);
    expect(await told(library, author)).toMatchObject([{ actor_count: 1, read: true }]);
    expect(await unread(author)).toBe(0);
  });

  test('share one notification when concurrent', async () => {
    const post = await write({ title: 'T' });
    const crowd = await Promise.all(Array.from({ length: 6 }, (_, n) => library.join(`c${round}-${n}`)));
    await Promise.all(crowd.flatMap((one) => [like(one, post.id), like(one, post.id)]));
    await Promise.all([settle(library), settle(library)]);
    expect(await told(library, author)).toMatchObject([{ kind: 'like', actor_count: 6 }]);
    expect(await unread(author)).toBe(1);
  });
});

test('a follower notifies once, however often they unfollow and follow', async () => {
  const params = { ref: author.ref };
  await anna.ok('followUser', { params });
  await anna.ok('followUser', { params });
  expect(await news(library, author)).toEqual([`follow ${anna.username} -`]);
  await anna.ok('unfollowUser', { params });
  expect(await news(library, author)).toEqual([]);
  await anna.ok('followUser', { params });
  expect(await news(library, author)).toHaveLength(1);
});

// NOTICE-5
describe('requests', () => {
  const restricted = () =>
    upload(author, plainFile(), { sensitivity: 'restricted', title: 'Plan' }, 'plan.txt');
  const ask = (who: Account, id: string, body: { capability?: string } = {}) =>
    who.send(`/assets/${id}/request-access`, { method: 'POST', body });

  // NOTICE-5, REQUEST-4
  test('for an asset notify its owner once, and the requester of the decision', async () => {
    const asset = await restricted();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(anna, asset.id)));
    const [created, ...more] = answers.filter(({ status }) => status === 201);
    expect(more).toEqual([]);
    await Promise.all([settle(library), settle(library)]);
    const { id }: { id: string } = JSON.parse(created?.text ?? '');
    expect(await told(library, author)).toMatchObject([
      {
        kind: 'request_received',
        actor: { ref: anna.ref },
        request: {
          id,
          target_kind: 'asset',
          target_id: asset.id,
          requested_capability: 'content.access.request',
          state: 'pending',
          title: 'Plan',
        },
      },
    ]);
    expect((await told(library, root)).filter(({ actor }) => actor?.ref === anna.ref)).toEqual([]);
    await author.ok('readAllNotifications');
    await ask(anna, asset.id);
    expect(await told(library, author)).toMatchObject([{ read: true }]);
    await author.ok('decideRequest', { params: { id }, body: { decision: 'denied' } });
    const [decided] = await told(library, anna);
    expect(decided).toMatchObject({
      kind: 'request_decided',
      actor: { ref: author.ref },
      request: { id, state: 'denied', target_id: asset.id },
    });
    // A decision unlocks nothing, not even the title.
    expect(decided?.request).not.toHaveProperty('title');
  });

  // NOTICE-5
  test('without an owner, or for another capability, notify holders of share.grant', async () => {
    const sharer = await library.join(`sharer${round}`);
    await grant(library, sharer, 'share.grant');
    const asset = await restricted();
    await ask(anna, asset.id, { capability: 'content.read.all' });
    expect(await news(library, sharer)).toEqual([`request_received ${anna.username} asset`]);
    expect(await news(library, author)).toEqual([]);
    const { db } = library.deps;
    await db.updateTable('assets').set({ owner_user_ref: null }).where('id', '=', asset.id).execute();
    await ask(ben, asset.id);
    expect(await news(library, sharer)).toHaveLength(2);
    // An account that may no longer decide no longer sees it.
    await withdrawGrants(library, sharer);
    expect([await news(library, sharer), await unread(sharer)]).toEqual([[], 0]);
  });

  // NOTICE-5
  test('to restore notify the account that deleted, not share.grant', async () => {
    const moderator = await library.join(`moderator${round}`);
    await grant(library, moderator, 'posts.admin');
    const sharer = await library.join(`sharer${round}`);
    await grant(library, sharer, 'share.grant');
    const post = await write({ title: 'Gone' });
    await moderator.ok('deletePost', { params: { id: post.id }, body: {} });
    await author.ok('requestRestore', { params: { kind: 'post', id: post.id }, body: {} });
    expect(await news(library, moderator)).toEqual([`request_received ${author.username} post`]);
    expect(await news(library, sharer)).toEqual([]);
  });

  test('for posts and collections name them after they are restored', async () => {
    const post = await write({ title: 'Back again' });
    const collection = await author.ok('createCollection', { body: { name: 'Sets' } });
    await root.ok('deletePost', { params: { id: post.id }, body: {} });
    await root.ok('deleteCollection', { params: { id: collection.id }, body: {} });
    for (const [kind, id] of [
      ['post', post.id],
      ['collection', collection.id],
    ] as const) {
      const request = await author.ok('requestRestore', { params: { kind, id }, body: {} });
      await root.ok('decideRequest', { params: { id: request.id }, body: { decision: 'granted' } });
    }
    const titles = (await told(library, author)).map(({ request }) => request?.title);
    expect(titles).toEqual(['Sets', 'Back again']);
  });
});

test('an impersonating administrator acts in the target’s name, who is not notified', async () => {
  const post = await write({ title: 'T' });
  await comment(await actAs(library, root, anna), post, 'hello');
  await comment(await actAs(library, root, author), post, 'mine');
  expect(await news(library, author)).toEqual([`comment ${anna.username} T`]);
});
