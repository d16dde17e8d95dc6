import type { ReviewNews } from '@vitrine/contract/reviews';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { enqueue } from '../../src/core/job-table.ts';
import { type Listening, listen } from '../notifications/streams.ts';
import { news, settle, told } from '../notifications/telling.ts';
import type { Account } from '../support/library.ts';
import { decide, openReviews, read } from './kit.ts';

const { library, mara, bob, eve, stranger, ask, addVersion } = await openReviews();
const { db } = library.deps;

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
    const isDecided = ({ reviewers }: ReviewNews) => reviewers.some(({ note }) => note === 'Level');
    const events = [await heard(author, isDecided), await heard(reviewer, isDecided)];
    // With a heartbeat, streams read again, too.
    for (const stream of [author, reviewer]) expect(stream.text()).not.toContain('still here');
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
