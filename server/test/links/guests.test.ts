import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { notifyOf } from '../../src/people/notifications/jobs/notify.ts';
import { told } from '../notifications/telling.ts';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { pagesOf } from '../support/pages.ts';
import { bearer, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { guestsOf, makeLink } from './visiting.ts';

const library = await openLibrary();
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const files = await Promise.all(
  ['One', 'Two', 'Three'].map((title) =>
    upload(owner, plainFile(title), { sensitivity: 'posts', title: title === 'Two' ? '=Two' : title }),
  ),
);
const [one, two, three] = files.map(({ id }) => id) as [string, string, string];
const post = await publish(owner, files, { title: 'For Nord', visibility: 'private' });
const elsewhere = await upload(owner, plainFile('elsewhere'), { sensitivity: 'public' });

const newLink = (terms: Parameters<typeof makeLink>[3]) => makeLink(owner, 'posts', post.id, terms);

const { browser, newGuest } = guestsOf(library);

describe('a name', () => {
  // GUEST-1, GUEST-3
  test('is kept by the browser for one link, and changed by giving another', async () => {
    const link = await newLink({ allow_feedback: true });
    const visitor = browser(link);
    expect(await visitor.open()).not.toHaveProperty('guest');
    const named = await visitor.name('  Jonas ');
    expect(named.body).toEqual({ id: expect.any(String), name: 'Jonas' });
    const cookie = named.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(new RegExp(`^guest=\\w{32}; .*Path=/api/v1/links/${link.token};`));
    expect(cookie).toContain('HttpOnly');
    expect(cookie).toContain('Max-Age=15552000');
    expect((await visitor.open()).guest).toEqual({
      ...named.body,
      muted: false,
      pick_count: 0,
      decisions: { assets: [] },
    });
    expect((await visitor.name('Jonas Berg')).body).toEqual({ id: named.body.id, name: 'Jonas Berg' });
    const { items } = await owner.ok('listLinkGuests', { params: { link: link.id } });
    expect(items.map(({ id, name }) => [id, name])).toEqual([[named.body.id, 'Jonas Berg']]);
    // The cookie of a guest of another link is none here.
    const other = await newLink({ allow_feedback: true });
    const headers = { cookie: cookie.split(';')[0] ?? '' };
    const foreign = await library.anonymous().send(`/links/${other.token}`, { headers });
    expect(JSON.parse(foreign.text)).not.toHaveProperty('guest');
  });

  // GUEST-2
  test.each([
    ['an empty one', ''],
    ['spaces', '   '],
    ['characters that cannot be seen', '\u200b\u2060'],
    ['two lines', 'Jonas\nBerg'],
    ['a control character', 'Jonas\u0007'],
    ['another direction of text', 'Jonas\u202egreB'],
    ['an isolate', '\u2067Jonas'],
    ['101 characters', 'x'.repeat(101)],
  ])('cannot be %s', async (_, name) => {
    expect((await browser(shared).name(name)).status).toBe(400);
  });

  // GUEST-2
  test('is text: neither markup nor letters of any script change', async () => {
    for (const name of ['<b>Jonas</b>', 'x'.repeat(100), 'יוסי כהן', '👩‍👩‍👧 Müller', "O'Neil; drop table"])
      expect((await browser(shared).name(name)).body.name).toBe(name);
  });

  // GUEST-3
  test('is refused once a link has 1,000 guests', async () => {
    const link = await newLink({ allow_picks: true });
    await sql`insert into link_guests (link_id, token_hash, name)
      select ${link.id}, sha256(gen_random_uuid()::text::bytea), 'x' from generate_series(1, 1000)`.execute(
      library.deps.db,
    );
    expect((await browser(link).name('One more')).status).toBe(409);
  });

  // GUEST-1
  test('is no account: a signed-in visitor gives a name, too', async () => {
    const asked = await stranger.send(`/links/${shared.token}/picks/${one}`, { method: 'PUT' });
    expect([asked.status, asked.text]).toEqual([401, '{"error":"guest_name_required"}']);
  });
});

const shared = await newLink({ allow_feedback: true, allow_picks: true });

describe('the terms of a link', () => {
  // GUEST-1
  test('take nothing from guests by default, and are changed at any time', async () => {
    const link = await newLink({});
    expect(link).toMatchObject({ allow_feedback: false, allow_picks: false });
    expect(link).not.toHaveProperty('max_picks');
    expect((await browser(link).name('Jonas')).status).toBe(403);
    const params = { link: link.id };
    const terms = { allow_feedback: true, allow_picks: true, max_picks: 20 };
    expect(await owner.ok('updateLink', { params, body: terms })).toMatchObject(terms);
    expect(await browser(link).open()).toMatchObject(terms);
    const unbounded = await owner.ok('updateLink', { params, body: { clear_max_picks: true } });
    expect(unbounded).not.toHaveProperty('max_picks');
    for (const wrong of [0, 10_001, 1.5, '3'])
      expect(await owner.status('PATCH', `/links/${link.id}`, { max_picks: wrong })).toBe(400);
  });

  // GUEST-4
  test('hold at the moment of writing', async () => {
    const link = await newLink({ allow_feedback: true, allow_picks: true, password: 'boat' });
    const guest = browser(link);
    expect((await guest.name('Jonas')).status).toBe(401);
    const params = { link: link.id };
    await owner.ok('updateLink', { params, body: { clear_password: true } });
    await guest.name('Jonas');
    expect((await guest.decide({ decision: 'approved' })).status).toBe(200);
    await owner.ok('updateLink', { params, body: { allow_feedback: false } });
    expect((await guest.decide({ decision: 'approved' })).status).toBe(403);
    expect((await guest.pick(one)).status).toBe(200);
    await owner.ok('updateLink', { params, body: { allow_picks: false } });
    for (const { status } of [await guest.pick(two), await guest.unpick(one), await guest.name('Other')])
      expect(status).toBe(403);
    expect(await guest.open()).not.toHaveProperty('guest');
    await owner.ok('revokeLink', { params });
    for (const { status } of [await guest.pick(one), await guest.name('Other')]) expect(status).toBe(404);
  });

  test('refuse what is too large, malformed or not theirs to say', async () => {
    const guest = await newGuest(shared, 'Jonas');
    const large = await guest.decide({ decision: 'approved', note: 'x'.repeat(10 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const wrong = [
      { decision: 'maybe' },
      { decision: 'approved', note: 'x'.repeat(10_001) },
      { decision: 'approved', guest_id: nowhere },
      { decision: 'approved', assets: [{ asset_id: 'x', decision: 'approved' }] },
      { decision: 'approved', assets: [one, one].map((asset_id) => ({ asset_id, decision: 'approved' })) },
    ];
    for (const body of wrong) expect((await guest.decide(body)).status).toBe(400);
    const outside = { decision: 'approved', assets: [{ asset_id: elsewhere.id, decision: 'approved' }] };
    expect((await guest.decide(outside)).status).toBe(404);
    expect((await guest.open()).guest.decisions).toEqual({ assets: [] });
  });
});

describe('picks', () => {
  // GUEST-5
  test('are of files that the link shows, once each, and at most as many as the link allows', async () => {
    const link = await newLink({ allow_picks: true, max_picks: 2 });
    const guest = await newGuest(link, 'Jonas');
    expect((await guest.pick(one)).body).toEqual({ picked: true, pick_count: 1 });
    expect((await guest.pick(one)).body).toEqual({ picked: true, pick_count: 1 });
    expect((await guest.pick(elsewhere.id)).status).toBe(404);
    expect((await guest.pick(nowhere)).status).toBe(404);
    expect((await guest.pick('x')).status).toBe(400);
    await guest.pick(two);
    expect((await guest.pick(three)).status).toBe(409);
    expect((await guest.unpick(one)).body).toEqual({ picked: false, pick_count: 1 });
    expect((await guest.unpick(one)).status).toBe(200);
    expect((await guest.pick(three)).status).toBe(200);
    const view = await guest.open();
    expect(view.guest.pick_count).toBe(2);
    expect(view.items.map((item: { picked: boolean }) => item.picked)).toEqual([false, true, true]);
    // Each guest has the whole number.
    const second = await newGuest(link, 'Ada');
    expect((await second.pick(one)).body.pick_count).toBe(1);
  });

  // GUEST-5
  test('do not exceed the number of the link with requests at once', async () => {
    const link = await newLink({ allow_picks: true, max_picks: 1 });
    const guest = await newGuest(link, 'Jonas');
    const { db } = library.deps;
    // Picks are committed together: each has counted before the other is visible, unless it waits for the other.
    await sql`create function await_release() returns trigger language plpgsql
      as 'begin perform pg_advisory_xact_lock_shared(5); return null; end'`.execute(db);
    await sql`create constraint trigger held after insert on link_picks deferrable initially deferred
      for each row execute function await_release()`.execute(db);
    const picking = await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(5)`.execute(tx);
      const requests = [one, two].map(async (id) => (await guest.pick(id)).status);
      expect(await comeToWait(db, 2)).toBe(true);
      return { requests };
    });
    expect((await Promise.all(picking.requests)).toSorted()).toEqual([200, 409]);
    await sql`drop function await_release() cascade`.execute(db);
    const { items } = await owner.ok('listLinkPicks', { params: { link: link.id } });
    expect(items).toHaveLength(1);
  });

  // GUEST-5
  test('of files that the link no longer shows do not count', async () => {
    const fourth = await upload(owner, plainFile('fourth'), { sensitivity: 'posts' });
    const pair = await publish(owner, [fourth, ...files.slice(0, 1)], { visibility: 'private' });
    const link = await makeLink(owner, 'posts', pair.id, { allow_picks: true, max_picks: 1 });
    const guest = await newGuest(link, 'Jonas');
    await guest.pick(fourth.id);
    await owner.ok('updateAsset', { params: { id: fourth.id }, body: { sensitivity: 'restricted' } });
    expect((await guest.open()).guest.pick_count).toBe(0);
    expect((await guest.pick(one)).status).toBe(200);
    expect((await guest.unpick(fourth.id)).status).toBe(200);
  });
});

describe('decisions', () => {
  // GUEST-9
  test('are about the target and single files, and the latest counts', async () => {
    const link = await newLink({ allow_feedback: true });
    const guest = await newGuest(link, 'Jonas');
    const first = await guest.decide({
      decision: 'changes_requested',
      note: 'Too dark',
      assets: [{ asset_id: two, decision: 'changes_requested', note: 'This one' }],
    });
    expect(first.body).toEqual({
      decision: 'changes_requested',
      note: 'Too dark',
      decided_at: expect.any(String),
      assets: [
        { asset_id: two, decision: 'changes_requested', note: 'This one', decided_at: expect.any(String) },
      ],
    });
    const second = await guest.decide({ decision: 'approved' });
    expect(second.body).toMatchObject({ decision: 'approved', assets: [{ asset_id: two }] });
    expect(second.body).not.toHaveProperty('note');
    expect((await guest.open()).guest.decisions).toEqual(second.body);
    const params = { link: link.id };
    const { items } = await owner.ok('listLinkFeedback', { params });
    expect(items.map(({ asset_id, decision, body }) => [asset_id, decision, body])).toEqual([
      [undefined, 'approved', undefined],
      [two, 'changes_requested', 'This one'],
    ]);
    expect(items[1]).toMatchObject({ title: '=Two', guest: { id: guest.id, name: 'Jonas' } });
    const listed = await owner.ok('listLinkGuests', { params });
    expect(listed.items).toMatchObject([{ id: guest.id, decision: 'approved' }]);
    // Two decisions at once leave one.
    await Promise.all(['approved', 'changes_requested'].map((decision) => guest.decide({ decision })));
    expect((await owner.ok('listLinkFeedback', { params })).items).toHaveLength(2);
  });
});

const point = { kind: 'point', x: 0.5, y: 0.25 };

// GUEST-7
describe('comments of guests', () => {
  test('are read by the guests of the link and the editors of its target, and by no one else', async () => {
    const made = await publish(owner, files.slice(0, 2), { title: 'Open', visibility: 'org-only' });
    const id = made.id;
    const link = await makeLink(owner, 'posts', id, { allow_feedback: true });
    const other = await makeLink(owner, 'posts', id, { allow_feedback: true });
    const [guest, friend] = [await newGuest(link, '<i>Jonas</i>'), await newGuest(link, 'Ada')];
    const foreign = await newGuest(other, 'Foreign');
    // To edit another post is not to edit this one.
    await publish(stranger, [await upload(stranger, plainFile('own'))], { title: 'Of a stranger' });
    const before = (await stranger.ok('listComments', { params: { id } })).items;
    const text = '<script>alert(1)</script> @stranger zephyrlily';
    const said = await guest.comment({ body: text });
    expect([said.status, said.body]).toEqual([
      201,
      {
        id: expect.any(String),
        guest: { name: '<i>Jonas</i>' },
        own: true,
        body: text,
        created_at: expect.any(String),
      },
    ]);
    const asked = { asset_id: two, anchor: point, body: 'Here.', strokes: [{ points: [[0.1, 0.2, 0.5]] }] };
    const drawn = await guest.annotate(asked);
    const annotation = { asset_id: two, version: 1, anchor: point, strokes: asked.strokes };
    expect([drawn.status, drawn.body]).toMatchObject([201, { annotation, asset_id: two, body: 'Here.' }]);
    const seen = await friend.comments();
    expect(seen.map((one: { id: string; own: boolean }) => [one.id, one.own])).toEqual([
      [drawn.body.id, false],
      [said.body.id, false],
    ]);
    expect(await foreign.comments()).toEqual([]);

    await owner.ok('createComment', { params: { id }, body: { body: 'From the studio' } });
    const thread = (await owner.ok('listComments', { params: { id } })).items;
    expect(thread.map(({ body, guest: who }) => [body, who])).toEqual([
      ['From the studio', undefined],
      ['Here.', { name: '<i>Jonas</i>' }],
      [text, { name: '<i>Jonas</i>' }],
    ]);
    expect(thread[1]).toMatchObject({ annotation, post_id: id, parent_id: null, replies: [] });
    for (const root of thread.slice(1)) expect(root).not.toHaveProperty('author');
    const pages = await pagesOf((from) =>
      owner.ok('listComments', { params: { id }, query: { limit: 1, ...from } }),
    );
    expect(pages.flat()).toEqual(thread);
    const filtered = async (query: object) =>
      (await owner.ok('listComments', { params: { id }, query })).items.map(({ body }) => body);
    expect(await filtered({ annotated: true })).toEqual(['Here.']);
    expect(await filtered({ annotated: false })).toEqual(['From the studio', text]);
    expect(await filtered({ asset_id: two })).toEqual(['Here.']);
    expect(await filtered({ resolved: true })).toEqual([]);

    // ANNOTATION-12
    const csv = async (who: Visitor, path: string) => (await who.send(path)).text;
    for (const path of [`/posts/${id}/annotations.csv`, `/assets/${two}/annotations.csv`]) {
      const row = (await csv(owner, path)).split('\n').find((line) => line.startsWith(drawn.body.id)) ?? '';
      expect(row).toContain(',,<i>Jonas</i>,Here.,yes,open,,');
      expect(await csv(stranger, path)).not.toContain('Jonas');
    }
    const sheet = await owner.send(`/posts/${id}/annotations.pdf`);
    expect([sheet.status, sheet.headers.get('content-type')]).toEqual([200, 'application/pdf']);

    const after = (await stranger.ok('listComments', { params: { id } })).items;
    expect(after.map(({ body }) => body)).toEqual(['From the studio', ...before.map(({ body }) => body)]);
    const shown = await owner.ok('getPost', { params: { id } });
    expect(shown.comment_count).toBe(1);
    await library.runJobs();
    expect((await stranger.ok('listNotifications')).items).toEqual([]);
    for (const who of [stranger, owner])
      expect((await who.ok('search', { query: { q: 'zephyrlily' } })).items).toEqual([]);
    for (const [method, path, body] of [
      ['POST', `/comments/${drawn.body.id}/like`],
      ['POST', `/comments/${drawn.body.id}/resolve`],
      ['PUT', `/comments/${drawn.body.id}/assignee`, { user_ref: null }],
      ['POST', `/posts/${id}/comments`, { body: 'Why?', parent_id: drawn.body.id }],
    ] as const)
      expect(await owner.status(method, path, body), path).toBe(404);
    expect(await stranger.status('DELETE', `/comments/${said.body.id}`)).toBe(404);
    const list = await owner.ok('listLinkFeedback', { params: { link: link.id } });
    expect(list.items.map(({ kind, body }) => [kind, body])).toEqual([
      ['annotation', 'Here.'],
      ['comment', text],
    ]);

    await owner.ok('deleteComment', { params: { id: said.body.id } });
    expect(await owner.status('DELETE', `/comments/${said.body.id}`)).toBe(404);
    expect((await guest.comments()).map((one: { id: string }) => one.id)).toEqual([drawn.body.id]);
    const events = await auditEvents(library, { target_id: link.id });
    expect(events.map(({ event }) => event)).toContain('link.feedback_removed');
  });

  test('are about what the link shows, and gone with it', async () => {
    const link = await makeLink(owner, 'assets', one, { allow_feedback: true });
    const guest = await newGuest(link, 'Jonas');
    expect((await guest.comment({ body: 'This one', asset_id: one })).body.asset_id).toBe(one);
    expect((await guest.annotate({ asset_id: one, anchor: point, body: 'x', version: 1 })).status).toBe(201);
    const wrong: [unknown, number][] = [
      [{ asset_id: two, anchor: point, body: 'x' }, 404],
      [{ asset_id: nowhere, anchor: point, body: 'x' }, 404],
      [{ asset_id: one, anchor: point, body: 'x', version: 2 }, 404],
      [{ asset_id: one, anchor: point }, 422],
      [{ asset_id: one, anchor: { kind: 'point', x: 1.5, y: 0 }, body: 'x' }, 400],
      [{ asset_id: one, anchor: { kind: 'page', page: 0 }, body: 'x' }, 400],
      [{ asset_id: one, anchor: { kind: 'time', start: -1 }, body: 'x' }, 400],
      [{ asset_id: one, anchor: { kind: 'time', start: 1 }, body: 'x' }, 422],
      [{ asset_id: one, anchor: point, body: ' ' }, 400],
    ];
    for (const [body, status] of wrong)
      expect([body, (await guest.annotate(body)).status]).toEqual([body, status]);
    expect((await guest.comment({ body: 'x', asset_id: two })).status).toBe(404);
    expect((await browser(link).comment({ body: 'x' })).status).toBe(401);
    const params = { link: link.id };
    expect((await owner.ok('listLinkGuests', { params })).items).toMatchObject([{ comment_count: 2 }]);
    await owner.ok('updateLinkGuest', { params: { ...params, guest_id: guest.id }, body: { muted: true } });
    expect((await guest.comment({ body: 'x' })).status).toBe(403);
    expect(await guest.comments()).toHaveLength(2);
    await owner.ok('updateLink', { params, body: { allow_feedback: false } });
    expect((await guest.send('GET', '/comments')).status).toBe(403);
    expect((await guest.annotate({ asset_id: one, anchor: point, body: 'x' })).status).toBe(403);
  });
});

describe('the editors of the target', () => {
  // GUEST-6, GUEST-11, GUEST-12
  test('see which guest looked at and picked which file, as lists and as CSV', async () => {
    const link = await newLink({ allow_picks: true, allow_feedback: true });
    const visitor = browser(link);
    await visitor.send('POST', `/assets/${one}/view`);
    const guest = await newGuest(link, '=HYPERLINK("x")');
    for (const id of [one, one, two]) await guest.send('POST', `/assets/${id}/view`);
    for (const id of [one, two]) await guest.pick(id);
    await guest.decide({ decision: 'approved', note: '+1\nfine' });
    const params = { link: link.id };
    const views = await owner.ok('listLinkViews', { params });
    const counted = views.items.map(({ asset_id, view_count, guest: who }) => [
      asset_id,
      who?.id,
      view_count,
    ]);
    expect(counted).toEqual([
      [two, guest.id, 1],
      [one, guest.id, 2],
      [one, undefined, 1],
    ]);
    const pages = await pagesOf((from) =>
      owner.ok('listLinkPicks', { params, query: { limit: 1, ...from } }),
    );
    expect(pages.flat().map(({ asset_id, title }) => [asset_id, title])).toEqual([
      [two, '=Two'],
      [one, 'One'],
    ]);
    const csv = async (list: string) => {
      const answer = await owner.send(`/links/${link.id}/${list}.csv`);
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      return answer.text.split('\n').map((line) => line.replace(/\d{4}-[\d-]+T[\d:.]+Z/g, 'T'));
    };
    const name = `"'=HYPERLINK(""x"")"`;
    expect(await csv('picks')).toEqual([
      'guest,asset_id,title,picked_at',
      `${name},${two},'=Two,T`,
      `${name},${one},One,T`,
      '',
    ]);
    expect(await csv('views')).toEqual([
      'guest,asset_id,title,views,last_viewed_at,downloads,last_downloaded_at',
      `${name},${two},'=Two,1,T,0,`,
      `${name},${one},One,2,T,0,`,
      `,${one},One,1,T,0,`,
      '',
    ]);
    expect(await csv('feedback')).toEqual([
      'created_at,guest,kind,decision,asset_id,title,place,body',
      `T,${name},decision,approved,,,,"'+1`,
      'fine"',
      '',
    ]);
    for (const list of ['guests', 'feedback', 'picks', 'views', 'feedback.csv', 'picks.csv', 'views.csv'])
      expect([list, await stranger.status('GET', `/links/${link.id}/${list}`)]).toEqual([list, 404]);
  });

  // GUEST-8
  test('mute guests, who then write nothing more', async () => {
    const link = await newLink({ allow_picks: true, allow_feedback: true });
    const [guest, other] = [await newGuest(link, 'Jonas'), await newGuest(link, 'Ada')];
    await guest.pick(one);
    const params = { link: link.id, guest_id: guest.id };
    const mute = (muted: boolean) => owner.ok('updateLinkGuest', { params, body: { muted } });
    expect(await mute(true)).toMatchObject({ id: guest.id, muted: true, pick_count: 1 });
    await mute(true);
    const tried = [
      await guest.pick(two),
      await guest.unpick(one),
      await guest.name('Other'),
      await guest.decide({ decision: 'approved' }),
    ];
    expect(tried.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await guest.open()).guest).toMatchObject({ muted: true, pick_count: 1 });
    expect((await other.pick(two)).status).toBe(200);
    await mute(false);
    expect((await guest.pick(two)).status).toBe(200);
    const events = await auditEvents(library, { target_id: link.id });
    const muting = events.map(({ event }) => event).filter((event) => event.includes('mute'));
    expect(muting.toSorted()).toEqual(['link.guest_muted', 'link.guest_unmuted']);
    // A guest of another link, and callers who may not edit the target.
    const elsewhere = { link: shared.id, guest_id: guest.id };
    expect((await owner.refused('updateLinkGuest', { params: elsewhere, body: {} })).status).toBe(404);
    expect((await stranger.refused('updateLinkGuest', { params, body: {} })).status).toBe(404);
    const writer = await bearer(library, owner, ['assets.write']);
    expect((await writer.refused('updateLinkGuest', { params, body: {} })).status).toBe(403);
  });
});

// NOTICE-21
test('the account that made a link has one unread notification of what guests left there', async () => {
  const link = await newLink({ allow_picks: true, allow_feedback: true, label: 'Nord' });
  const [guest, other] = [await newGuest(link, 'Jonas'), await newGuest(link, 'Ada')];
  const notices = async () =>
    (await told(library, owner)).filter((notice) => notice.link?.id === link.id).map(({ read }) => read);
  expect(await notices()).toEqual([]);
  await guest.comment({ body: 'First' });
  await guest.pick(one);
  expect(await notices()).toEqual([false]);
  const [notice] = (await owner.ok('listNotifications')).items;
  expect(notice).toMatchObject({
    kind: 'guest_feedback',
    link: { id: link.id, label: 'Nord', target_kind: 'post', target_id: post.id },
  });
  expect(notice).not.toHaveProperty('actor');
  await other.decide({ decision: 'approved' });
  expect(await notices()).toEqual([false]);
  await owner.ok('readAllNotifications');
  // A job that runs twice finds nothing new.
  await notifyOf(library.deps.db, { what: 'guest_feedback', link: link.id });
  expect(await notices()).toEqual([true]);
  await other.pick(two);
  expect(await notices()).toEqual([false, true]);
  // Unpicking, names and views are no news.
  await owner.ok('readAllNotifications');
  await other.unpick(two);
  await other.name('Ada L.');
  expect(await notices()).toEqual([true, true]);
  // They disappear with the right to edit what the link shows.
  await owner.ok('deletePost', { params: { id: post.id }, body: {} });
  expect(await notices()).toEqual([]);
  await owner.ok('restorePost', { params: { id: post.id } });
  expect(await notices()).toEqual([true, true]);
});

// GUEST-10
test('guests write 30 times a minute per link and address', async () => {
  const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on' });
  const maker = await limited.join('maker');
  const made = await publish(maker, [await upload(maker, plainFile())]);
  const links = [1, 2].map(() => makeLink(maker, 'posts', made.id, { allow_picks: true }));
  const [first, second] = await Promise.all(links);
  const name = async (token = '') =>
    (await limited.anonymous().send(`/links/${token}/guest`, { method: 'POST', body: { name: 'x' } })).status;
  const statuses = await Promise.all(Array.from({ length: 35 }, () => name(first?.token)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  expect(await name(second?.token)).toBe(200);
});
