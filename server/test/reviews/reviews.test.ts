import type { Post } from '@vitrine/contract/posts';
import type { Review, ReviewNews } from '@vitrine/contract/reviews';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { enqueue } from '../../src/core/job-table.ts';
import { pathOf } from '../../src/people/notifications/wording.ts';
import { type Listening, listen } from '../notifications/streams.ts';
import { news, settle, told } from '../notifications/telling.ts';
import { auditEvents } from '../support/audit.ts';
import { type Account, formOf, openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { grant, nowhere, setStatus } from '../support/people.ts';
import { plainText, png } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [mara, bob, eve, stranger] = await library.joinAll('mara', 'bob', 'eve', 'stranger');

let seed = 100;
const picture = async () => {
  seed += 1;
  return png(40, 30, seed);
};

const REVIEW = '00000000-0000-4000-8000-000000000212';
const APPROVED = '00000000-0000-4000-8000-000000000213';

interface Asked {
  review: Review;
  post: Post;
  assets: string[];
}

/** A draft of new files, under review. */
async function ask(reviewers: Account[], { files = 1, body = {}, post = {} } = {}): Promise<Asked> {
  const uploaded = [];
  for (let n = 0; n < files; n++)
    uploaded.push(await upload(mara, await picture(), { sensitivity: 'posts' }, 'a.png'));
  await library.runJobs();
  const draft = await publish(mara, uploaded, { draft: true, title: 'Harbour', ...post });
  const review = await mara.ok('requestReview', {
    params: { id: draft.id },
    body: { reviewers: reviewers.map(({ ref }) => ref), ...body },
  });
  return { review, post: draft, assets: uploaded.map(({ id }) => id) };
}

const read = (who: Account, { id }: { id: string }) => who.ok('getReview', { params: { id } });
const decide = (who: Account, { id }: { id: string }, body = {}) =>
  who.ok('decideReview', { params: { id }, body: { decision: 'approved', ...body } });
const addVersion = async (id: string) =>
  mara.ok('addAssetVersion', { params: { id }, body: formOf(await picture(), {}, 'b.png') });
const stateOf = async (id: string) => {
  const asset = await mara.ok('getAsset', { params: { id } });
  return asset.restricted ? null : asset.state_id;
};
const queue = async (who: Account, state: 'waiting_for_me' | 'waiting_for_others' | 'done') =>
  (await who.ok('listMyReviews', { query: { state } })).items.map(({ id }) => id);

describe('asking', () => {
  // REVIEW-1
  test('creates a review with its post, its reviewers and no decisions, and writes an event', async () => {
    const due_at = new Date(Date.now() + 7 * 86_400_000).toISOString();
    const { review, post } = await ask([bob, eve], { body: { due_at, note: 'Is it level?' } });
    expect(review).toMatchObject({
      post_id: post.id,
      note: 'Is it level?',
      due_at,
      state: 'open',
      version: 1,
      reviewers: [bob, eve].map(({ ref }) => ({
        user: { ref },
        decision: null,
        version: null,
        decided_at: null,
      })),
    });
    expect(review.post).toMatchObject({ id: post.id, draft: true });
    expect((await auditEvents(library, { target_id: post.id })).map(({ event }) => event)).toContain(
      'review.requested',
    );
    expect((await mara.ok('listPostReviews', { params: { id: post.id }, query: {} })).items).toEqual([
      review,
    ]);
  });

  // REVIEW-2
  test('is a 404 for an account that could not read the post once it is published', async () => {
    const draft = await publish(mara, [await upload(mara, plainText('a'))], {
      draft: true,
      visibility: 'private',
    });
    const inactive = await library.join('inactive');
    await setStatus(library, inactive, 'disabled');
    const open = await publish(mara, [await upload(mara, plainText('b'))], { draft: true });
    const asking = (id: string, ref: number) =>
      mara.refused('requestReview', { params: { id }, body: { reviewers: [ref] } });
    for (const refused of [
      await asking(draft.id, bob.ref),
      await asking(open.id, inactive.ref),
      await asking(open.id, 987_654),
    ])
      expect(refused.status).toBe(404);
    await mara.ok('putShare', { params: { id: draft.id, user_ref: bob.ref } });
    await mara.ok('updatePost', { params: { id: draft.id }, body: { visibility: 'explicit-share' } });
    await mara.ok('requestReview', { params: { id: draft.id }, body: { reviewers: [bob.ref] } });
  });

  // REVIEW-2
  test('a team asks its members who may read the post, without the author and the caller', async () => {
    const team = await root.ok('createTeam', { body: { name: 'Art', slug: 'art' } });
    for (const { ref } of [mara, bob, eve])
      await root.ok('addTeamMember', { params: { id: team.id, user_ref: ref } });
    const post = await publish(mara, [await upload(mara, plainText('c'))], { draft: true });
    const review = await mara.ok('requestReview', {
      params: { id: post.id },
      body: { reviewers: [{ team_id: team.id }, eve.ref] },
    });
    expect(review.reviewers.map(({ user }) => user.username)).toEqual(['eve', 'root', 'bob']);
    const unknown = { params: { id: post.id }, body: { reviewers: [{ team_id: nowhere }] } };
    expect((await mara.refused('requestReview', unknown)).status).toBe(404);
  });

  // REVIEW-1
  test('refuses what is malformed, a time in the past, and callers who may not edit the post', async () => {
    const post = await publish(mara, [await upload(mara, plainText('d'))]);
    const path = `/posts/${post.id}/reviews`;
    for (const body of [
      {},
      { reviewers: [] },
      { reviewers: ['bob'] },
      { reviewers: [{ team_id: 'art' }] },
      { reviewers: [bob.ref], due_at: '2020-01-01T00:00:00Z' },
      { reviewers: [bob.ref], due_at: 'tomorrow' },
      { reviewers: [bob.ref], note: ' ' },
      { reviewers: [bob.ref], note: 'x'.repeat(2001) },
      { reviewers: [bob.ref], unknown: 1 },
    ])
      expect(await mara.status('POST', path, body), JSON.stringify(body)).toBe(400);
    expect(await stranger.status('POST', path, { reviewers: [bob.ref] })).toBe(403);
    expect(await mara.status('POST', `/posts/${nowhere}/reviews`, { reviewers: [bob.ref] })).toBe(404);
    await db.deleteFrom('reviews').where('post_id', '=', post.id).execute();
    for (let n = 0; n < 20; n++) expect(await mara.status('POST', path, { reviewers: [bob.ref] })).toBe(201);
    expect(await mara.status('POST', path, { reviewers: [bob.ref] })).toBe(409);
    await db.deleteFrom('reviews').where('post_id', '=', post.id).execute();
  });
});

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

describe('a decision', () => {
  // REVIEW-5
  test('names its version, may differ per file, and may change until the review is closed', async () => {
    const { review, post, assets } = await ask([bob, eve], { files: 2 });
    const [first = '', second = ''] = assets;
    const files = [
      { asset_id: first, decision: 'approved' as const },
      { asset_id: second, decision: 'changes_requested' as const, note: 'Too dark' },
    ];
    const decided = await decide(bob, review, {
      decision: 'changes_requested',
      note: 'One more',
      assets: files,
    });
    expect(decided.reviewers[0]).toMatchObject({
      decision: 'changes_requested',
      note: 'One more',
      version: 1,
      counts: true,
      assets: files,
    });
    expect(decided.reviewers[0]?.decided_at).toMatch(/Z$/);
    expect((await decide(bob, review)).reviewers[0]).toMatchObject({ decision: 'approved', version: 1 });
    expect((await read(mara, review)).reviewers[0]).not.toHaveProperty('assets');
    expect(await mara.status('POST', `/reviews/${review.id}/decide`, { decision: 'approved' })).toBe(403);
    // The post is published, so that its reviewers still read the closed review.
    await mara.ok('publishPost', { params: { id: post.id }, body: undefined });
    await mara.ok('closeReview', { params: { id: review.id } });
    expect(await bob.status('POST', `/reviews/${review.id}/decide`, { decision: 'approved' })).toBe(409);
    expect((await read(bob, review)).reviewers[0]?.decision).toBe('approved');
  });

  // REVIEW-5
  test('refuses unknown decisions and files', async () => {
    const { review, assets } = await ask([bob]);
    const [asset = ''] = assets;
    const path = `/reviews/${review.id}/decide`;
    const file = { asset_id: asset, decision: 'approved' };
    for (const body of [
      {},
      { decision: 'maybe' },
      { decision: 'approved', assets: [file, { ...file, asset_id: asset.toUpperCase() }] },
      { decision: 'approved', assets: [{ asset_id: asset }] },
      { decision: 'approved', note: '' },
    ])
      expect(await bob.status('POST', path, body), JSON.stringify(body)).toBe(400);
    const other = { ...file, asset_id: nowhere };
    expect(await bob.status('POST', path, { decision: 'approved', assets: [other] })).toBe(404);
    expect((await read(bob, review)).reviewers[0]?.decision).toBeNull();
  });

  // REVIEW-5
  test('made twice at the same time is one decision', async () => {
    const { review } = await ask([bob, eve]);
    const bodies = [{ decision: 'approved' }, { decision: 'changes_requested' }] as const;
    await Promise.all(bodies.flatMap((body) => [decide(bob, review, body), decide(eve, review, body)]));
    expect((await read(mara, review)).reviewers.filter(({ counts }) => counts)).toHaveLength(2);
  });

  // REVIEW-7
  test('of a disabled account is not waited for, and disappears with a removed account', async () => {
    const [gone, lazy] = await library.joinAll('gone', 'lazy');
    const { review, assets } = await ask([bob, gone, lazy]);
    await decide(gone, review);
    await root.ok('deleteUser', { params: { ref: gone.ref } });
    await setStatus(library, lazy, 'disabled');
    expect(await lazy.status('GET', `/reviews/${review.id}`)).toBe(401);
    const after = await decide(bob, review);
    expect(after.reviewers.map(({ user }) => user.username)).toEqual(['bob', 'lazy']);
    expect(await stateOf(assets[0] ?? '')).toBe(APPROVED);
    expect(await queue(mara, 'waiting_for_others')).not.toContain(review.id);
  });

  // REVIEW-7
  test('on a file disappears with it', async () => {
    const { review, assets } = await ask([bob], { files: 2 });
    const [first = '', second = ''] = assets;
    const files = [first, second].map((asset_id) => ({ asset_id, decision: 'approved' as const }));
    await decide(bob, review, { assets: files });
    await mara.ok('deleteAsset', { params: { id: second }, body: undefined });
    const decided = async () =>
      (await read(mara, review)).reviewers[0]?.assets?.map(({ asset_id }) => asset_id);
    expect(await decided()).toEqual([first]);
    // As a purge removes it.
    await db.deleteFrom('post_members').where('asset_id', '=', second).execute();
    await db.deleteFrom('assets').where('id', '=', second).execute();
    expect(await decided()).toEqual([first]);
    expect((await decide(bob, review)).reviewers[0]).toMatchObject({ decision: 'approved', counts: true });
  });

  // REVIEW-5
  test('is refused to a reviewer who loses access while it waits', async () => {
    const { review, post, assets } = await ask([bob]);
    const held = await db.transaction().execute(async (tx) => {
      await sql`select from assets where id = ${assets[0]} for update`.execute(tx);
      const deciding = bob.status('POST', `/reviews/${review.id}/decide`, { decision: 'approved' });
      expect(await comeToWait(db)).toBe(true);
      await sql`update posts set visibility = 'private' where id = ${post.id}`.execute(db);
      return { deciding };
    });
    expect(await held.deciding).toBe(404);
    expect((await read(mara, review)).reviewers[0]?.decision).toBeNull();
  });
});

describe('a change of the post', () => {
  // REVIEW-8, REVIEW-9
  test('ends decisions and moves states back, whether a file or the list of files changes', async () => {
    const { review, post, assets } = await ask([bob], { files: 2 });
    const [first = '', second = ''] = assets;
    expect(await stateOf(first)).toBe(REVIEW);
    await decide(bob, review);
    expect([await stateOf(first), await stateOf(second)]).toEqual([APPROVED, APPROVED]);
    await addVersion(first);
    const reopened = await read(mara, review);
    expect(reopened).toMatchObject({
      version: 2,
      reviewers: [{ decision: 'approved', version: 1, counts: false }],
    });
    expect([await stateOf(first), await stateOf(second)]).toEqual([REVIEW, REVIEW]);
    await decide(bob, review);
    await mara.ok('updatePost', { params: { id: post.id }, body: { members: [{ asset_id: second }] } });
    expect(await read(mara, review)).toMatchObject({
      version: 3,
      reviewers: [{ version: 2, counts: false }],
    });
    await decide(bob, review);
    await mara.ok('deleteAsset', { params: { id: second }, body: undefined });
    expect(await read(mara, review)).toMatchObject({ version: 4, reviewers: [{ counts: false }] });
    await root.ok('restoreAsset', { params: { id: second } });
    expect(await read(mara, review)).toMatchObject({ version: 5 });
  });

  // REVIEW-8
  test('ends nothing when only text or order change', async () => {
    const { review, post, assets } = await ask([bob], { files: 2 });
    await decide(bob, review);
    const members = assets.toReversed().map((asset_id) => ({ asset_id }));
    await mara.ok('updatePost', { params: { id: post.id }, body: { title: 'Port', members } });
    expect(await read(mara, review)).toMatchObject({ version: 1, reviewers: [{ counts: true }] });
  });

  // REVIEW-8
  test('is seen by a decision that waits for it', async () => {
    const { review, assets } = await ask([bob]);
    const [asset = ''] = assets;
    const bytes = formOf(await picture(), {}, 'b.png');
    await sql
      .raw(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(4711); return new; end $$;
      create trigger waits before insert on asset_versions for each row execute function wait()`)
      .execute(db);
    await db.connection().execute(async (own) => {
      await sql`select pg_advisory_lock(4711)`.execute(own);
      const adding = mara.ok('addAssetVersion', { params: { id: asset }, body: bytes });
      expect(await comeToWait(db)).toBe(true);
      const deciding = bob.status('POST', `/reviews/${review.id}/decide`, {
        decision: 'approved',
        version: 1,
      });
      expect(await comeToWait(db, 2)).toBe(true);
      await sql`select pg_advisory_unlock(4711)`.execute(own);
      await adding;
      expect(await deciding).toBe(409);
    });
    await sql.raw('drop trigger waits on asset_versions; drop function wait()').execute(db);
    expect(await read(mara, review)).toMatchObject({ version: 2, reviewers: [{ decision: null }] });
    expect((await decide(bob, review, { version: 2 })).reviewers[0]).toMatchObject({
      version: 2,
      counts: true,
    });
  });

  // REVIEW-9
  test('and a review move no files of others', async () => {
    const others = await upload(eve, await picture(), { sensitivity: 'public' }, 'c.png');
    const draft = await publish(mara, [others], { draft: true });
    await mara.ok('requestReview', { params: { id: draft.id }, body: { reviewers: [bob.ref] } });
    expect(await stateOf(others.id)).not.toBe(REVIEW);
  });
});

describe('the lists', () => {
  // REVIEW-10
  test('have each review once: waiting for me, for others, or done', async () => {
    const [ann, ben] = await library.joinAll('ann', 'ben');
    await grant(library, ann, 'posts.admin');
    const { review } = await ask([ann, ben]);
    const places = async (who: Account) => [
      await queue(who, 'waiting_for_me'),
      await queue(who, 'waiting_for_others'),
      await queue(who, 'done'),
    ];
    const id = review.id;
    expect(await places(ann)).toEqual([[id], [], []]);
    expect(await ann.ok('countMyReviews')).toEqual({ waiting_for_me: 1, waiting_for_others: 0 });
    expect(await queue(mara, 'waiting_for_others')).toContain(id);
    await decide(ann, review);
    expect(await places(ann)).toEqual([[], [], [id]]);
    expect(await queue(mara, 'waiting_for_others')).toContain(id);
    await decide(ben, review);
    expect(await queue(mara, 'waiting_for_others')).not.toContain(id);
    expect(await queue(mara, 'done')).toContain(id);
    const page = await mara.ok('listMyReviews', { query: { limit: 1 } });
    const next = await mara.ok('listMyReviews', { query: { limit: 1, cursor: page.next_cursor ?? '' } });
    expect(page.items[0]?.id).toBe(id);
    expect(next.items[0]?.id).not.toBe(id);
    expect((await stranger.ok('listMyReviews', { query: {} })).items).toEqual([]);
  });
});

describe('notifications', () => {
  // REVIEW-12
  test('tell reviewers of requests and changes, and the author of decisions', async () => {
    const [tom, una] = await library.joinAll('tom', 'una');
    const { review, assets } = await ask([tom, una], { post: { title: 'Pier' } });
    expect(await news(library, tom)).toEqual(['review_requested mara Pier']);
    await decide(tom, review, { decision: 'changes_requested' });
    expect((await news(library, mara))[0]).toBe('review_decided tom Pier');
    await addVersion(assets[0] ?? '');
    expect(await news(library, tom)).toEqual(['review_reopened mara Pier', 'review_requested mara Pier']);
    expect(await news(library, una)).toEqual(['review_requested mara Pier']);
    await mara.ok('closeReview', { params: { id: review.id } });
    expect(await news(library, tom)).toEqual([]);
  });

  // REVIEW-12
  test('of a decision say what was decided then, also after another decision', async () => {
    const pia = await library.join('pia');
    const { review } = await ask([pia], { post: { title: 'Mole' } });
    await decide(pia, review, { decision: 'changes_requested' });
    await settle(library);
    await decide(pia, review);
    const decisions = (await told(library, mara))
      .filter(({ kind, post }) => kind === 'review_decided' && post?.title === 'Mole')
      .map((notification) => notification.review?.decision);
    expect(decisions.sort()).toEqual(['approved', 'changes_requested']);
  });

  // REVIEW-11
  test('remind a day before the review is due and once after it', async () => {
    const [ida, jon] = await library.joinAll('ida', 'jon');
    const due_at = new Date(Date.now() + 3 * 86_400_000).toISOString();
    const { review } = await ask([ida, jon], { body: { due_at }, post: { title: 'Quay' } });
    await decide(jon, review);
    const pass = (time: string) =>
      sql`update reviews set due_at = due_at - ${time}::interval where id = ${review.id}`.execute(db);
    const remind = async () => {
      await enqueue(db, 'remind-reviews', {}, { key: 'remind-reviews' });
      return (await news(library, ida)).filter((line) => line.startsWith('review_due')).length;
    };
    expect(await remind()).toBe(0);
    await pass('2 days 1 hour');
    expect([await remind(), await remind()]).toEqual([1, 1]);
    await pass('1 day');
    expect([await remind(), await remind()]).toEqual([2, 2]);
    expect((await news(library, jon)).filter((line) => line.startsWith('review_due'))).toEqual([]);
    expect((await news(library, mara))[0]).toBe('review_due - Quay');
  });
});

describe('GET /events?post=', () => {
  const open: Listening[] = [];
  const look = async (who: Account, post?: string) => {
    const stream = await listen(library.address, { cookie: who }, post);
    open.push(stream);
    return stream;
  };
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  const heard = (stream: Listening, isIt: (review: ReviewNews) => boolean) =>
    stream.heard<ReviewNews>('decision', isIt);

  // REVIEW-13
  test('tells the author and the reviewers of a draft of a decision at once', async () => {
    const { review, post } = await ask([bob, eve]);
    const [author, reviewer] = [await look(mara, post.id), await look(bob, post.id)];
    await decide(eve, review, { note: 'Level' });
    const decidedAt = performance.now();
    const isDecided = ({ reviewers }: ReviewNews) => reviewers.some(({ note }) => note === 'Level');
    const events = [await heard(author, isDecided), await heard(reviewer, isDecided)];
    // Long before the next heartbeat, with which streams also read again.
    expect(performance.now() - decidedAt).toBeLessThan(15_000);
    for (const [who, event] of [mara, bob].map((each, index) => [each, events[index]] as const)) {
      const { post: _, ...shown } = await read(who, review);
      expect(event).toEqual(shown);
    }
  });

  // REVIEW-13
  test('tells of requests, of changes of the post, and of the end to those who still read the review', async () => {
    const { review, post, assets } = await ask([bob]);
    const [author, reviewer] = [await look(mara, post.id), await look(bob, post.id)];
    const other = await mara.ok('requestReview', { params: { id: post.id }, body: { reviewers: [bob.ref] } });
    for (const stream of [author, reviewer]) await heard(stream, ({ id }) => id === other.id);
    await addVersion(assets[0] ?? '');
    for (const { id } of [review, other])
      await heard(reviewer, (event) => event.id === id && event.version === 2);
    await mara.ok('closeReview', { params: { id: review.id } });
    await heard(author, ({ id, state }) => id === review.id && state === 'closed');
    await decide(bob, other);
    await heard(reviewer, ({ id, reviewers }) => id === other.id && reviewers[0]?.counts === true);
    expect(reviewer.text()).not.toContain('"state":"closed"');
  });

  // REVIEW-4, REVIEW-13
  test('tells other readers of the post nothing of its reviews', async () => {
    const { review, post, assets } = await ask([bob]);
    await mara.ok('publishPost', { params: { id: post.id }, body: undefined });
    const [author, reader] = [await look(mara, post.id), await look(stranger, post.id)];
    await decide(bob, review);
    await heard(author, ({ reviewers }) => reviewers[0]?.counts === true);
    const anchor = { kind: 'point' as const, x: 0.5, y: 0.5 };
    const body = { asset_id: assets[0] ?? '', anchor, body: 'Here' };
    const made = await mara.ok('createAnnotation', { params: { id: post.id }, body });
    await reader.heard<{ id: string }>('comment', ({ id }) => id === made.id);
    expect(reader.text()).not.toContain('decision');
  });

  // REVIEW-12
  test('without a post, counts requests and decisions for those whom they concern', async () => {
    const [kim, lea] = await library.joinAll('kim', 'lea');
    await library.runJobs();
    const [asked, asking] = [await look(kim), await look(mara)];
    expect(await asked.next()).toBe(0);
    const before = await asking.next();
    const { review } = await ask([kim, lea]);
    await library.runJobs();
    expect(await asked.next()).toBe(1);
    await decide(kim, review);
    await library.runJobs();
    expect(await asking.next()).toBe(before + 1);
  });
});
