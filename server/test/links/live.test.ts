import type { Comment } from '@vitrine/contract/comments';
import type { LinkComment } from '@vitrine/contract/guests';
import type { ShareLinkUpdate } from '@vitrine/contract/links';
import { afterEach, describe, expect, test } from 'vitest';
import { type Listening, listen } from '../notifications/streams.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { guestsOf, makeLink } from './visiting.ts';

const library = await openLibrary();
const [owner, moderator, reader] = await library.joinAll('owner', 'moderator', 'reader');
await grant(library, moderator, 'posts.admin');
const newFile = (title: string) => upload(owner, plainFile(title), { sensitivity: 'posts', title });
const files = await Promise.all([newFile('One'), newFile('Two')]);
const [{ id: one }, { id: two }] = files;
const { browser, newGuest } = guestsOf(library);

const streams: Listening[] = [];
const open = async (stream: Promise<Listening>) => {
  const opened = await stream;
  streams.push(opened);
  return opened;
};
const follow = (guest: { follow(): Promise<Listening> }) => open(guest.follow());
const look = (who: Account, post: string) => open(listen(library.address, { cookie: who }, post));
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

/** A post that everyone reads, with a link that takes feedback. */
async function share() {
  const { id } = await publish(owner, files, { title: 'For Nord', visibility: 'org-only' });
  const newLink = () => makeLink(owner, 'posts', id, { allow_feedback: true, allow_picks: true });
  return { id, link: await newLink(), newLink };
}

type Guest = Awaited<ReturnType<typeof newGuest>>;

const change = (link: string, body: ShareLinkUpdate) => owner.ok('updateLink', { params: { link }, body });

const expire = (id: string) =>
  library.deps.db
    .updateTable('share_links')
    .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
    .where('id', '=', id)
    .execute();

const about = (asset_id: string, body: string) => ({
  asset_id,
  anchor: { kind: 'point', x: 0.5, y: 0.5 },
  body,
});
const said =
  (body: string) =>
  (comment: { body?: string }): boolean =>
    comment.body === body;
const isGone =
  (id: string) =>
  (comment: { id: string; deleted?: true }): boolean =>
    comment.id === id && comment.deleted === true;

describe('what a guest writes', () => {
  // GUEST-13
  test('reaches the guests of the same link at once, as their list shows it', async () => {
    const { id, link, newLink } = await share();
    const [jonas, visitor] = [await newGuest(link, 'Jonas'), browser(link)];
    const foreign = await newGuest(await newLink(), 'Foreign');
    const [own, other, elsewhere] = [await follow(jonas), await follow(visitor), await follow(foreign)];
    const { body: made } = await jonas.comment({ body: 'The second one' });
    expect(await own.heard<LinkComment>('comment', said('The second one'))).toEqual(made);
    expect(await other.heard<LinkComment>('comment', said('The second one'))).toEqual({
      ...made,
      own: false,
    });
    const { body: placed } = await jonas.annotate(about(two, 'Here'));
    await other.heard<LinkComment>('comment', ({ annotation }) => annotation?.asset_id === two);
    await owner.ok('deleteComment', { params: { id: placed.id } });
    expect(await other.heard('comment', isGone(placed.id))).toEqual({ id: placed.id, deleted: true });

    // Sends nothing that members wrote, and nothing of other links.
    await owner.ok('createComment', { params: { id }, body: { body: 'From the studio' } });
    await owner.ok('createAnnotation', {
      params: { id },
      body: { asset_id: one, anchor: { kind: 'point', x: 0, y: 0 }, body: 'A note of the studio' },
    });
    await foreign.comment({ body: 'elsewhere' });
    await elsewhere.heard('comment', said('elsewhere'));
    await jonas.comment({ body: 'the last' });
    await other.heard('comment', said('the last'));
    for (const word of ['studio', 'elsewhere', 'presence', 'notification', 'feedback'])
      expect(other.text()).not.toContain(word);
    expect(elsewhere.text()).not.toContain('Jonas');
  });

  // GUEST-14
  test('reaches the editors of the post at once, and no other reader of it', async () => {
    const { id, link } = await share();
    const jonas = await newGuest(link, 'Jonas');
    const editors = [await look(owner, id), await look(moderator, id)];
    const plain = await look(reader, id);
    const { body: made } = await jonas.comment({ body: 'The second one' });
    const [root] = (await owner.ok('listComments', { params: { id } })).items;
    const { replies: _, ...shown } = root ?? {};
    const isOfLink = ({ link_id }: { link_id: string }) => link_id === link.id;
    for (const stream of editors) {
      expect(await stream.heard<Comment>('comment', said('The second one'))).toEqual(shown);
      await stream.heard('feedback', isOfLink);
    }
    await owner.ok('deleteComment', { params: { id: made.id } });
    const removal = await editors[1]?.heard<Comment>('comment', isGone(made.id));
    expect(removal).toEqual({ id: made.id, post_id: id, deleted: true });
    const comment = await owner.ok('createComment', { params: { id }, body: { body: 'To everyone' } });
    await plain.heard<Comment>('comment', (one) => one.id === comment.id);
    for (const word of ['Jonas', 'feedback', made.id]) expect(plain.text()).not.toContain(word);
  });

  // GUEST-14
  test.each([
    ['a decision', (guest: Guest) => guest.decide({ decision: 'approved' })],
    ['a pick', (guest: Guest) => guest.pick(one)],
    ['a name', (guest: Guest) => guest.name('Jonas Berg')],
  ])('%s notifies the editors of the post that the lists of the link have changed', async (_, act) => {
    const { id, link } = await share();
    const guest = await newGuest(link, 'Jonas');
    const [editor, plain] = [await look(owner, id), await look(reader, id)];
    expect((await act(guest)).status).toBe(200);
    expect(await editor.heard('feedback', () => true)).toEqual({ link_id: link.id });
    const comment = await owner.ok('createComment', { params: { id }, body: { body: 'To everyone' } });
    await plain.heard<Comment>('comment', ({ id: heard }) => heard === comment.id);
    expect(plain.text()).not.toContain('feedback');
  });

  // GUEST-13
  test('is not sent if it is about a file that the link no longer shows', async () => {
    const hidden = await upload(owner, plainFile('hidden'), { sensitivity: 'posts' });
    const post = await publish(owner, [...files, hidden], { visibility: 'private' });
    const link = await makeLink(owner, 'posts', post.id, { allow_feedback: true });
    const jonas = await newGuest(link, 'Jonas');
    const { body: made } = await jonas.annotate(about(hidden.id, 'Here'));
    const stream = await follow(jonas);
    await owner.ok('updateAsset', { params: { id: hidden.id }, body: { sensitivity: 'restricted' } });
    await owner.ok('deleteComment', { params: { id: made.id } });
    await jonas.comment({ body: 'the last' });
    await stream.heard('comment', said('the last'));
    expect(stream.text()).not.toContain(made.id);
  });
});

// GUEST-13
test('guests are notified when names change, and when they are muted themselves', async () => {
  const { link } = await share();
  const [jonas, ada] = [await newGuest(link, 'Jonas'), await newGuest(link, 'Ada')];
  const [first, second, third] = [await follow(jonas), await follow(ada), await follow(browser(link))];
  const params = { link: link.id, guest_id: jonas.id };
  await owner.ok('updateLinkGuest', { params, body: { muted: true } });
  type News = { guest?: { name: string; muted: boolean } };
  await first.heard<News>('guests', ({ guest }) => guest?.muted === true);
  expect(await second.heard<News>('guests', () => true)).toEqual({ guest: { name: 'Ada', muted: false } });
  expect(await third.heard<News>('guests', () => true)).toEqual({});
  await ada.name('Ada Berg');
  await second.heard<News>('guests', ({ guest }) => guest?.name === 'Ada Berg');
});

describe('the stream of a link', () => {
  // GUEST-13
  test.each<[string, number, (link: string) => Promise<unknown>]>([
    ['takes no more feedback', 403, (link) => change(link, { allow_feedback: false })],
    ['gets a password', 401, (link) => change(link, { password: 'boat' })],
    ['expires', 404, expire],
    ['gets another address', 404, (link) => owner.ok('renewLink', { params: { link }, body: undefined })],
    ['is revoked', 404, (link) => owner.ok('revokeLink', { params: { link } })],
  ])('ends at once when the link %s', async (_, status, act) => {
    const { link } = await share();
    const guest = await newGuest(link, 'Jonas');
    const stream = await follow(guest);
    expect(stream.status).toBe(200);
    await act(link.id);
    await stream.ended;
    // With a heartbeat, the link is read again, too.
    expect(stream.text()).not.toContain('still here');
    expect((await follow(guest)).status).toBe(status);
  });

  // GUEST-13
  test('ends without another event once the post is withdrawn', async () => {
    const { id, link } = await share();
    const jonas = await newGuest(link, 'Jonas');
    const { body: made } = await jonas.comment({ body: 'x' });
    const stream = await follow(jonas);
    await owner.ok('unpublishPost', { params: { id } });
    await owner.ok('deleteComment', { params: { id: made.id } });
    await stream.ended;
    expect(stream.text()).not.toContain('event:');
  });

  // GUEST-13
  test('is no longer notified once its process has not renewed it for a minute', async () => {
    const { link } = await share();
    const jonas = await newGuest(link, 'Jonas');
    const stream = await follow(jonas);
    const renewed = (seconds: number) =>
      library.deps.db
        .updateTable('link_streams')
        .set({ seen_at: new Date(Date.now() - seconds * 1000).toISOString() })
        .where('link_id', '=', link.id)
        .execute();
    await renewed(90);
    await jonas.comment({ body: 'missed' });
    await renewed(0);
    await jonas.comment({ body: 'received' });
    await stream.heard('comment', said('received'));
    expect(stream.text()).not.toContain('missed');
  });

  // GUEST-13
  test('is refused without feedback, and before the password is given', async () => {
    const { id } = await share();
    const [silent, locked] = [
      await makeLink(owner, 'posts', id, { allow_picks: true }),
      await makeLink(owner, 'posts', id, { allow_feedback: true, password: 'boat' }),
    ];
    expect((await follow(browser(silent))).status).toBe(403);
    const visitor = browser(locked);
    expect((await follow(visitor)).status).toBe(401);
    await visitor.send('POST', '/unlock', { password: 'boat' });
    expect((await follow(visitor)).status).toBe(200);
  });

  // GUEST-13
  test('is opened at most twenty times from one address', { tags: ['one-process'] }, async () => {
    const { link } = await share();
    const visitor = browser(link);
    for (let n = 0; n < 22; n += 1) expect((await visitor.send('HEAD', '/events')).status).toBe(200);
    const opened: Listening[] = [];
    const openNext = async () => {
      const stream = await follow(visitor);
      if (stream.status === 200) opened.push(stream);
      return stream.status;
    };
    // The service may not have noticed yet that streams of earlier tests were closed.
    for (let n = 0; n < 20; n += 1) await expect.poll(openNext).toBe(200);
    expect(await openNext()).toBe(429);
    opened[0]?.close();
    await expect.poll(openNext).toBe(200);
  });
});
