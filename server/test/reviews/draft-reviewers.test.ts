import { describe, expect, test } from 'vitest';
import { pathOf } from '../../src/people/notifications/wording.ts';
import { told } from '../notifications/telling.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { openReviews, picture, queue, read } from './kit.ts';

const { library, mara, bob, eve, stranger, ask } = await openReviews();

describe('reviewers of a draft', () => {
  // REVIEW-3, REVIEW-6
  test('read it with its members at the review, and nowhere else, until the review is closed', async () => {
    const { review, post, assets } = await ask([bob]);
    const [asset = ''] = assets;
    const bytes = (who: Account) => who.status('GET', `/assets/${asset}/variants/col`);
    expect((await read(bob, review)).post.members).toMatchObject([{ asset_id: asset, restricted: false }]);
    expect([
      await bytes(bob),
      await bob.status('GET', `/assets/${asset}/media`),
      await bytes(stranger),
    ]).toEqual([200, 200, 404]);
    const elsewhere = [`/posts/${post.id}`, `/posts/${post.id}/reviews`, `/assets/${asset}`];
    for (const path of elsewhere) expect(await bob.status('GET', path), path).toBe(404);
    expect((await bob.ok('listPosts', { query: { author_ref: mara.ref, asset } })).items).toEqual([]);
    const listed = await bob.ok('listAssets', { query: { owner_ref: mara.ref } });
    expect(listed.items.map(({ id }) => id)).not.toContain(asset);
    await mara.ok('closeReview', { params: { id: review.id } });
    expect([await bob.status('GET', `/reviews/${review.id}`), await bytes(bob)]).toEqual([404, 404]);
    expect(await mara.status('DELETE', `/reviews/${review.id}`)).toBe(204);
    expect((await read(mara, review)).state).toBe('closed');
  });

  // REVIEW-3, ANNOTATION-5
  test('annotate its files and read their annotations, and nothing else of its thread', async () => {
    const { review, post, assets } = await ask([bob]);
    const params = { id: post.id };
    const body = {
      asset_id: assets[0] ?? '',
      anchor: { kind: 'point' as const, x: 0.5, y: 0.5 },
      body: 'Here',
    };
    const made = await bob.ok('createAnnotation', { params, body });
    const own = await mara.ok('createAnnotation', { params, body });
    const listed = async (who: Account) =>
      (await who.ok('listComments', { params, query: {} })).items.map(({ id }) => id).toSorted();
    expect(await listed(bob)).toEqual([made.id, own.id].toSorted());
    expect(await stranger.status('POST', `/posts/${post.id}/annotations`, body)).toBe(404);
    expect(await stranger.status('GET', `/posts/${post.id}/comments`)).toBe(404);
    expect(await bob.status('POST', `/posts/${post.id}/comments`, { body: 'Hello' })).toBe(404);
    await mara.ok('closeReview', { params: { id: review.id } });
    expect(await bob.status('GET', `/posts/${post.id}/comments`)).toBe(404);
    expect(await bob.status('POST', `/posts/${post.id}/annotations`, body)).toBe(404);
  });

  // NOTICE-4, NOTICE-22, ANNOTATION-9
  test('are led to the review by notifications of its annotations, while they read it there alone', async () => {
    const due_at = new Date(Date.now() + 7 * 86_400_000).toISOString();
    const { review, post, assets } = await ask([bob, eve], { body: { due_at } });
    const params = { id: post.id };
    const anchor = { kind: 'point' as const, x: 0.5, y: 0.5 };
    const body = { asset_id: assets[0] ?? '', anchor, body: 'Level this, @bob and @stranger' };
    const { id } = await mara.ok('createAnnotation', { params, body });
    const assigning = (user_ref: number) => ({ params: { id }, body: { user_ref } });
    expect((await mara.refused('assignComment', assigning(stranger.ref))).status).toBe(404);
    await mara.ok('assignComment', assigning(bob.ref));
    await eve.ok('createComment', { params, body: { body: 'Done', parent_id: id } });
    const noticesOf = async (who: Account) =>
      (await told(library, who)).filter(({ comment, post: about }) => about?.id === post.id && comment);
    const shown = (await noticesOf(bob)).map(({ kind, review: at }) => [kind, at]);
    const at = { id: review.id, due_at, decision: null };
    expect(shown).toEqual([
      ['assigned', at],
      ['mention', at],
    ]);
    for (const notice of await noticesOf(bob))
      expect(pathOf(notice)).toBe(`/reviews/${review.id}#comment-${id}`);
    expect(await noticesOf(stranger)).toEqual([]);
    // The author reads the post itself.
    const [answer] = await noticesOf(mara);
    expect(answer).toMatchObject({ kind: 'reply' });
    expect(answer).not.toHaveProperty('review');
    const newer = await mara.ok('requestReview', { params, body: { reviewers: [bob.ref] } });
    expect((await noticesOf(bob))[0]?.review?.id).toBe(newer.id);
    await mara.ok('publishPost', { params, body: undefined });
    for (const notice of await noticesOf(bob)) expect(notice).not.toHaveProperty('review');
    await mara.ok('unpublishPost', { params });
    for (const one of [review, newer]) await mara.ok('closeReview', { params: { id: one.id } });
    expect(await noticesOf(bob)).toEqual([]);
  });

  // REVIEW-3
  test('see no member that publishing would withhold from them', async () => {
    const own = await upload(mara, await picture(), { sensitivity: 'posts' }, 'a.png');
    const secret = await upload(mara, await picture(), { sensitivity: 'restricted' }, 'b.png');
    const others = await upload(eve, await picture(), { sensitivity: 'posts' }, 'c.png');
    await eve.ok('putAssetShare', { params: { id: others.id, user_ref: mara.ref }, body: {} });
    await library.runJobs();
    const draft = await publish(mara, [own, secret, others], { draft: true });
    const review = await mara.ok('requestReview', {
      params: { id: draft.id },
      body: { reviewers: [bob.ref] },
    });
    expect((await read(bob, review)).post.members.map(({ restricted }) => restricted)).toEqual([
      false,
      true,
      true,
    ]);
    for (const { id } of [secret, others])
      expect(await bob.status('GET', `/assets/${id}/variants/col`)).toBe(404);
    const file = { asset_id: secret.id, decision: 'approved' };
    expect(
      await bob.status('POST', `/reviews/${review.id}/decide`, { decision: 'approved', assets: [file] }),
    ).toBe(404);
  });

  // REVIEW-4
  test('lose the review with access to the post; for everyone else it never existed', async () => {
    const { review, post } = await ask([bob]);
    expect(await stranger.status('GET', `/reviews/${review.id}`)).toBe(404);
    expect(await stranger.status('POST', `/reviews/${review.id}/decide`, { decision: 'approved' })).toBe(404);
    expect(await stranger.status('DELETE', `/reviews/${review.id}`)).toBe(404);
    await mara.ok('updatePost', { params: { id: post.id }, body: { visibility: 'private' } });
    expect(await bob.status('GET', `/reviews/${review.id}`)).toBe(404);
    expect(await bob.status('POST', `/reviews/${review.id}/decide`, { decision: 'approved' })).toBe(404);
    expect(await queue(bob, 'waiting_for_me')).not.toContain(review.id);
    await mara.ok('deletePost', { params: { id: post.id }, body: undefined });
    expect(await mara.status('GET', `/reviews/${review.id}`)).toBe(404);
  });
});
