import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { type Account, formOf, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { grant, nowhere, revoke, setStatus } from '../support/people.ts';
import { plainText } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import { decide, openReviews, picture, queue, read } from './kit.ts';

const { library, root, mara, bob, eve, stranger, ask, addVersion } = await openReviews();
const { db } = library.deps;

const REVIEW = '00000000-0000-4000-8000-000000000212';
const APPROVED = '00000000-0000-4000-8000-000000000213';

const stateOf = async (id: string) => {
  const asset = await mara.ok('getAsset', { params: { id } });
  return asset.restricted ? null : asset.state_id;
};

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

  // REVIEW-2
  test('only its members and holders of `teams.read` name a team', async () => {
    const lena = await library.join('lena');
    const [own, other] = [await addTeam(library, 'own', [lena, bob]), await addTeam(library, 'other', [bob])];
    const post = await publish(lena, [await upload(lena, plainText('own'))]);
    const naming = (team_id: string) => ({ params: { id: post.id }, body: { reviewers: [{ team_id }] } });
    await lena.ok('requestReview', naming(other));
    await revoke(library, lena, 'teams.read');
    expect((await lena.refused('requestReview', naming(other))).status).toBe(404);
    await lena.ok('requestReview', naming(own));
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
