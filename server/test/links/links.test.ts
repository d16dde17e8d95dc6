import { createHash } from 'node:crypto';
import { operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { bearer, grant, nowhere, setStatus, withdrawGrants } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { addressesOf, guestsOf, makeLink, open, shownIds, unlock, visit } from './visiting.ts';

let seed = 1;

const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const statusOf = async (token: string) => (await open(library, token)).status;

async function newAsset(fields: Record<string, string> = {}, who: Account = owner) {
  seed += 1;
  return upload(who, plainFile(`file ${seed}`), { sensitivity: 'posts', ...fields });
}

const library = await openLibrary();
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const admin = await library.join('root', 'admin');
const asset = await upload(owner, await jpeg(60, 40), { sensitivity: 'posts', title: 'Harbour' });
await library.runJobs();
const post = await publish(owner, [asset], { title: 'Drafts for Nord', visibility: 'private' });
const collection = await owner.ok('createCollection', { body: { name: 'For Nord', visibility: 'private' } });
await owner.ok('addToCollection', { params: { id: collection.id, post_id: post.id } });

beforeEach(() => library.setPublicMode(false));

describe('POST /{posts|assets|collections}/{id}/links', () => {
  // LINK-2
  test('returns the address; lists of the target omit it, and the database has it as SHA-256 and sealed', async () => {
    const made = await makeLink(owner, 'posts', post.id, { label: ' Client ', expires_at: later(3) });
    expect(made).toMatchObject({ label: 'Client', target_kind: 'post', target_id: post.id, opened_count: 0 });
    const unset = { has_password: false, allow_download: false, watermark: null, revoked_at: null };
    expect(made).toMatchObject(unset);
    expect(made.token).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(made.url).toBe(`${library.address}/s/${made.token}`);
    const listed = await owner.ok('listPostLinks', { params: { id: post.id } });
    expect(listed.items[0]?.id).toBe(made.id);
    expect(JSON.stringify(listed)).not.toContain(made.token);
    const { rows } = await sql<{ text: string }>`select row_to_json(l)::text || coalesce((
      select string_agg(e.metadata::text, '') from audit_events e where e.target_id = l.id), '') as text
      from share_links l where l.id = ${made.id}`.execute(library.deps.db);
    expect(rows[0]?.text).not.toContain(made.token);
    expect(rows[0]?.text).toContain(createHash('sha256').update(made.token).digest('hex'));
  });

  // LINK-1, LINK-7
  test('requires the right to edit the target: 404, or 403 for readers; 409 for mature assets', async () => {
    for (const [kind, { id }] of Object.entries({ posts: post, assets: asset, collections: collection })) {
      const path = `/${kind}/${id}/links`;
      const statusesOf = async (who: Account) => [
        await who.status('POST', path, {}),
        await who.status('GET', path),
      ];
      expect([kind, await statusesOf(stranger)]).toEqual([kind, [404, 404]]);
      for (const who of [owner, admin]) expect([kind, await statusesOf(who)]).toEqual([kind, [201, 200]]);
    }
    const open = await publish(owner, [await newAsset()], { visibility: 'org-only' });
    expect(await stranger.status('POST', `/posts/${open.id}/links`, {})).toBe(403);
    const past = { expires_at: later(-1) };
    expect(await owner.status('POST', `/posts/${post.id}/links`, past)).toBe(400);
    const mature = await newAsset({ mature: 'true' });
    expect(await owner.status('POST', `/assets/${mature.id}/links`, {})).toBe(409);
  });

  // LINK-7, LINK-8
  test('reports how many assets the link omits', async () => {
    const kept = await newAsset();
    const mature = await newAsset({ mature: 'true' });
    const restricted = await newAsset({ sensitivity: 'restricted' });
    const forAccounts = await newAsset({ sensitivity: 'org' });
    const foreign = await newAsset({ sensitivity: 'public' }, stranger);
    const mixed = await publish(owner, [kept, mature, restricted, forAccounts, foreign]);
    const made = await makeLink(owner, 'posts', mixed.id, { allow_download: true });
    expect(made.omitted_count).toBe(4);
    expect(await shownIds(library, made.token)).toEqual([kept.id]);
    for (const { id } of [mature, restricted, forAccounts, foreign, asset]) {
      const below = addressesOf(made.token, id).slice(1, 6);
      const statuses = below.map(async (path) => (await visit(library, path)).status);
      expect(await Promise.all(statuses)).toEqual(Array(5).fill(404));
    }
    // A link to the asset itself is explicit: it shows any sensitivity, but no mature content.
    const direct = await makeLink(owner, 'assets', restricted.id);
    expect(await shownIds(library, direct.token)).toEqual([restricted.id]);
    await owner.ok('updateAsset', { params: { id: restricted.id }, body: { mature: true } });
    expect(await statusOf(direct.token)).toBe(404);
  });

  // LINK-16
  test('answers 409 beyond 100 links to one target', async () => {
    const { id } = await newAsset();
    await sql`insert into share_links (token_hash, asset_id, created_by_user_ref)
      select sha256(gen_random_uuid()::text::bytea), ${id}, ${owner.ref} from generate_series(1, 99)`.execute(
      library.deps.db,
    );
    await makeLink(owner, 'assets', id, {});
    const answer = await owner.refused('createAssetLink', { params: { id }, body: {} });
    expect(answer.status).toBe(409);
    // An expired link does not count, so it cannot work again either.
    const [link = ''] = await sql<{ id: string }>`update share_links set expires_at = now()
      where id = (select id from share_links where asset_id = ${id} limit 1) returning id`
      .execute(library.deps.db)
      .then(({ rows }) => rows.map((row) => row.id));
    await makeLink(owner, 'assets', id, {});
    const extend = { params: { link }, body: { expires_at: '2999-01-01T00:00:00Z' } };
    expect((await owner.refused('updateLink', extend)).status).toBe(409);
    await sql`delete from share_links where asset_id = ${id} and id <> ${link}`.execute(library.deps.db);
    await owner.ok('updateLink', extend);
  });
});

describe('GET /links/{link}', () => {
  // LINK-3
  test('shows the target with public mode off, and nothing about people or other posts', async () => {
    const { token } = await makeLink(owner, 'posts', post.id);
    const answer = await open(library, token);
    expect(answer.status).toBe(200);
    const view = JSON.parse(answer.text);
    expect(view).toMatchObject({ title: 'Drafts for Nord', target_kind: 'post', next_cursor: null });
    expect(view.items).toMatchObject([
      { id: asset.id, title: 'Harbour', variants: ['col', 'preview', 'screen', 'hires'] },
    ]);
    const withheld = /author|owner|user|like|comment|tag|team|visibility|sensitivity|hash"/;
    expect(answer.text.replaceAll('thumbhash', '')).not.toMatch(withheld);
  });

  // LINK-14
  test.each([
    ['a post', () => makeLink(owner, 'posts', post.id, { password: 'boat' })],
    ['nothing', async () => ({ token: 'x'.repeat(32) })],
  ])(
    'and every other answer of a link to %s is private, unlisted and without a referrer',
    async (_, make) => {
      const { token } = await make();
      for (const path of [...addressesOf(token, asset.id), `/links/${token}/unlock`]) {
        const method = path.endsWith('unlock') ? 'POST' : 'GET';
        const body = method === 'POST' ? { body: { password: 'wrong' } } : {};
        const { headers, status } = await library.anonymous().send(path, { method, ...body });
        expect([401, 404]).toContain(status);
        expect(headers.get('x-robots-tag')).toBe('noindex');
        expect(headers.get('referrer-policy')).toBe('no-referrer');
        expect(headers.get('cache-control')).toContain('private');
      }
    },
  );

  // LINK-13
  test('counts visits and the time of the last; pages, bytes and refusals do not count', async () => {
    const made = await makeLink(owner, 'collections', collection.id, { password: 'boat' });
    await open(library, made.token);
    const { cookie } = await unlock(library, made.token, 'boat');
    await open(library, made.token, cookie);
    await open(library, made.token, cookie);
    await visit(library, `/links/${made.token}/assets/${asset.id}/variants/col`, cookie);
    const { items } = await owner.ok('listCollectionLinks', { params: { id: collection.id } });
    const listed = items.find(({ id }) => id === made.id);
    expect(listed?.opened_count).toBe(2);
    expect(Date.parse(listed?.last_opened_at ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  test('pages through a collection in its order, with the texts of its posts', async () => {
    const shelf = await owner.ok('createCollection', { body: { name: 'Long', description: 'All of it' } });
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const members = [await newAsset(), await newAsset()];
      const one = await publish(owner, members, { title: `Part ${index}`, visibility: 'private' });
      await owner.ok('addToCollection', { params: { id: shelf.id, post_id: one.id } });
      ids.push(...members.map(({ id }) => id));
    }
    const hidden = await publish(stranger, [await newAsset({}, stranger)], { visibility: 'org-only' });
    await owner.ok('addToCollection', { params: { id: shelf.id, post_id: hidden.id } });
    const { token } = await makeLink(owner, 'collections', shelf.id);
    const titles = new Set<string>();
    const pages = await pagesOf(async (from) => {
      const query = { limit: 4, ...from };
      const view = await library.anonymous().ok('openLink', { params: { link: token }, query });
      expect(view.title).toBe('Long');
      for (const { title } of view.posts) titles.add(title);
      return view;
    });
    const seen = pages.flat().map(({ id }) => id);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect([...titles].sort()).toEqual(['Part 0', 'Part 1', 'Part 2']);
    expect((await visit(library, `/links/${token}?cursor=nonsense`)).status).toBe(400);
  });
});

// LINK-4
describe('an invalid link is the same 404 at every address', () => {
  const gone = async (token: string, id = asset.id) => {
    for (const path of addressesOf(token, id)) {
      const answer = await visit(library, path);
      expect([path, answer.status, answer.text]).toEqual([path, 404, '{"error":"not found"}']);
    }
    const tried = await unlock(library, token, 'boat');
    expect([tried.status, tried.text]).toEqual([404, '{"error":"not found"}']);
  };

  // LINK-4
  test('for a token that is guessed, shortened, longer, in another case or malformed', async () => {
    const { token } = await makeLink(owner, 'posts', post.id, { password: 'boat' });
    const turned = token.replace(/[a-z]/gi, (c) =>
      c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase(),
    );
    const altered = [token.slice(0, 31), `${token}A`, turned, `${token}%20`];
    for (const wrong of ['A'.repeat(32), ...altered, 'x'.repeat(5000)]) await gone(wrong);
  });

  // LINK-4
  test('when it is expired or revoked', async () => {
    const expired = await makeLink(owner, 'posts', post.id, { expires_at: later(1), password: 'boat' });
    const { db } = library.deps;
    await sql`update share_links set expires_at = now() - interval '1 second' where id = ${expired.id}`.execute(
      db,
    );
    await gone(expired.token);
    const revoked = await makeLink(owner, 'posts', post.id);
    expect(await statusOf(revoked.token)).toBe(200);
    await owner.ok('revokeLink', { params: { link: revoked.id } });
    await gone(revoked.token);
  });

  // LINK-4
  test('while its post is a draft or deleted', async () => {
    const own = await newAsset();
    const one = await publish(owner, [own]);
    const { token } = await makeLink(owner, 'posts', one.id, { allow_download: true });
    expect(await statusOf(token)).toBe(200);
    await owner.ok('unpublishPost', { params: { id: one.id } });
    await gone(token, own.id);
    await owner.ok('publishPost', { params: { id: one.id }, body: undefined });
    expect(await statusOf(token)).toBe(200);
    await owner.ok('deletePost', { params: { id: one.id }, body: {} });
    await gone(token, own.id);
    await sql`update posts set deleted_at = null where id = ${one.id}`.execute(library.deps.db);
    expect(await statusOf(token)).toBe(200);
    await owner.ok('updatePost', { params: { id: one.id }, body: { visibility: 'private' } });
    expect(await statusOf(token)).toBe(200);
    await sql`delete from posts where id = ${one.id}`.execute(library.deps.db);
    await gone(token, own.id);
  });

  // LINK-24
  test('when it is made for a draft, until the post is published', async () => {
    const own = await newAsset();
    const draft = await publish(owner, [own], { draft: true, title: 'Not yet', visibility: 'public' });
    const { token } = await makeLink(owner, 'posts', draft.id, {
      allow_feedback: true,
      allow_download: true,
    });
    await gone(token, own.id);
    const guest = guestsOf(library).browser({ token });
    for (const { status } of [
      await guest.name('Jonas'),
      await guest.comment({ body: 'x' }),
      await guest.annotate({ asset_id: own.id, anchor: { kind: 'point', x: 0, y: 0 }, body: 'x' }),
      await guest.decide({ decision: 'approved' }),
    ])
      expect(status).toBe(404);
    // A link shows a private post, so that clients see it before others.
    await owner.ok('updatePost', { params: { id: draft.id }, body: { visibility: 'private' } });
    await owner.ok('publishPost', { params: { id: draft.id }, body: undefined });
    expect(await shownIds(library, token)).toEqual([own.id]);
    expect(await stranger.status('GET', `/posts/${draft.id}`)).toBe(404);
    expect((await guest.name('Jonas')).status).toBe(200);
  });

  // LINK-5
  test('when its creator is disabled or may no longer edit the target', async () => {
    const curator = await library.join('curator');
    await grant(library, curator, 'posts.admin');
    const { token } = await makeLink(curator, 'posts', post.id);
    expect(await statusOf(token)).toBe(200);
    await setStatus(library, curator, 'disabled');
    await gone(token);
    await setStatus(library, curator, 'active');
    expect(await statusOf(token)).toBe(200);
    await withdrawGrants(library, curator);
    await gone(token);
  });
});

// LINK-6
describe('a password', () => {
  // LINK-6
  test('answers 401 until it is given; the cookie is valid for this link only', async () => {
    const made = await makeLink(owner, 'posts', post.id, { password: 'boat', allow_download: true });
    const other = await makeLink(owner, 'posts', post.id, { password: 'boat' });
    expect(made.has_password).toBe(true);
    for (const path of addressesOf(made.token, asset.id)) {
      const { status, text } = await visit(library, path);
      expect([status, JSON.parse(text).error]).toEqual([401, 'link_password_required']);
    }
    const wrong = await unlock(library, made.token, 'Boat');
    expect([wrong.status, wrong.set]).toEqual([401, '']);
    const { status, set, cookie } = await unlock(library, made.token, 'boat');
    expect(status).toBe(204);
    expect(set).toContain(`Path=/api/v1/links/${made.token};`);
    expect(set).toContain('HttpOnly');
    expect(set).toContain('SameSite=Lax');
    for (const path of addressesOf(made.token, asset.id)) {
      // A small picture has neither tiles nor subtitles, and the link takes no feedback.
      const expected = path.endsWith('events') ? 403 : /tiles|subtitles/.test(path) ? 404 : 200;
      expect([path, (await visit(library, path, cookie)).status]).toEqual([path, expected]);
    }
    expect((await open(library, other.token, cookie)).status).toBe(401);
    const forged = cookie.replace(/=(\d+)\./, (_, until) => `=${Number(until) + 1000}.`);
    expect((await open(library, made.token, forged)).status).toBe(401);
    const stored = library.deps.db
      .selectFrom('share_links')
      .select('password_hash')
      .where('id', '=', made.id);
    expect((await stored.executeTakeFirst())?.password_hash).toMatch(/^\$2b\$/);
  });

  // LINK-6
  test('invalidates cookies when it is changed or removed', async () => {
    const { id, token } = await makeLink(owner, 'posts', post.id, { password: 'boat' });
    const { cookie } = await unlock(library, token, 'boat');
    expect((await open(library, token, cookie)).status).toBe(200);
    await owner.ok('updateLink', { params: { link: id }, body: { password: 'ship' } });
    expect((await open(library, token, cookie)).status).toBe(401);
    expect((await unlock(library, token, 'boat')).status).toBe(401);
    await owner.ok('updateLink', { params: { link: id }, body: { password: 'boat' } });
    expect((await open(library, token, cookie)).status).toBe(401);
    await owner.ok('updateLink', { params: { link: id }, body: { clear_password: true } });
    expect((await open(library, token)).status).toBe(200);
  });

  // RATE-9
  test('can be tried ten times a minute', async () => {
    const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on' });
    const maker = await limited.join('maker');
    const one = await publish(maker, [await upload(maker, plainFile())]);
    const { token } = await makeLink(maker, 'posts', one.id, { password: 'boat' });
    const second = await makeLink(maker, 'posts', one.id, { password: 'boat' });
    const tries = await Promise.all(Array.from({ length: 50 }, () => unlock(limited, token, 'wrong')));
    expect((await unlock(limited, second.token, 'boat')).status).toBe(204);
    expect(tries.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(40);
    const right = await unlock(limited, token, 'boat');
    expect(right.status).toBe(429);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    const budgets = limited.deps.db.selectFrom('rate_budgets').select('key');
    const rows = await budgets.where('key', 'like', 'unlock %').execute();
    expect(rows).toHaveLength(2);
    expect(rows.filter(({ key }) => key.includes(token))).toEqual([]);
  });
});

// LINK-1
describe('PATCH and DELETE /links/{link}', () => {
  // LINK-17
  test('change only what is given; `clear_*` removes', async () => {
    const terms = { label: 'One', expires_at: later(2), watermark: true };
    const { id } = await makeLink(owner, 'posts', post.id, terms);
    const params = { link: id };
    const renamed = await owner.ok('updateLink', { params, body: { label: 'Two', allow_download: true } });
    expect(renamed).toMatchObject({ label: 'Two', allow_download: true, watermark: 'Vitrine' });
    expect(renamed.expires_at).not.toBeNull();
    const removal = { clear_expires_at: true, clear_watermark: true };
    const bare = await owner.ok('updateLink', { params, body: removal });
    expect(bare).toMatchObject({ expires_at: null, watermark: null, label: 'Two' });
    const both = { password: 'x', clear_password: true };
    expect((await owner.refused('updateLink', { params, body: both })).status).toBe(400);
    await owner.ok('revokeLink', { params });
    await owner.ok('revokeLink', { params });
    expect((await owner.refused('updateLink', { params, body: { label: 'Three' } })).status).toBe(409);
    const events = await auditEvents(library, { target_id: id });
    const kinds = events.map(({ event }) => event.replace('link.', ''));
    expect(kinds.sort()).toEqual(['changed', 'changed', 'created', 'revoked']);
  });

  // LINK-1
  test('may be changed by everyone who may edit the target, regardless of who created the link; 404 for others', async () => {
    const params = { link: (await makeLink(owner, 'assets', asset.id)).id };
    expect((await stranger.refused('updateLink', { params, body: { label: 'x' } })).status).toBe(404);
    expect((await stranger.refused('revokeLink', { params })).status).toBe(404);
    await admin.ok('revokeLink', { params });
  });

  // LINK-1, LINK-19
  test('a renewed link has a new address and keeps its id, terms and counts', async () => {
    const made = await makeLink(owner, 'posts', post.id, { label: 'Client', password: 'boat' });
    const { cookie } = await unlock(library, made.token, 'boat');
    await open(library, made.token, cookie);
    const params = { link: made.id };
    expect((await stranger.refused('renewLink', { params, body: undefined })).status).toBe(404);
    const renewed = await owner.ok('renewLink', { params, body: undefined });
    expect(renewed).toMatchObject({ id: made.id, label: 'Client', has_password: true, opened_count: 1 });
    expect(renewed.url).toBe(`${library.address}/s/${renewed.token}`);
    expect(await statusOf(made.token)).toBe(404);
    expect(await statusOf(renewed.token)).toBe(401);
    await owner.ok('revokeLink', { params });
    expect((await owner.refused('renewLink', { params, body: undefined })).status).toBe(409);
    const toAsset = await makeLink(owner, 'assets', asset.id);
    const writer = await bearer(library, owner, ['posts.write']);
    expect(
      (await writer.refused('renewLink', { params: { link: toAsset.id }, body: undefined })).status,
    ).toBe(403);
    const events = await auditEvents(library, { target_id: made.id });
    expect(events.map(({ event }) => event)).toContain('link.renewed');
    expect(JSON.stringify(events)).not.toContain(renewed.token);
  });

  test('require the scope of the target from a token', async () => {
    const writer = await bearer(library, owner, ['posts.write']);
    const toAsset = await makeLink(owner, 'assets', asset.id);
    const toPost = await makeLink(owner, 'posts', post.id);
    expect((await writer.refused('revokeLink', { params: { link: toAsset.id } })).status).toBe(403);
    await writer.ok('revokeLink', { params: { link: toPost.id } });
  });
});

describe('lists of links', () => {
  // LINK-20
  test('show the addresses of the own links, and titles that the caller may read', async () => {
    const maker = await library.join('maker');
    const file = await upload(maker, plainFile('made'), { sensitivity: 'posts', title: 'Boat' });
    const own = await publish(maker, [file], { title: 'Boats', visibility: 'private' });
    const toPost = await makeLink(maker, 'posts', own.id, { label: 'One' });
    const toFile = await makeLink(maker, 'assets', file.id, { label: 'Two' });
    const ofAdmin = await makeLink(admin, 'posts', own.id, { label: 'Three' });
    const pages = await pagesOf((from) => maker.ok('listOwnLinks', { query: { limit: 1, ...from } }));
    const mine = pages.flat();
    expect(mine.map(({ label, url, target_title }) => [label, url, target_title])).toEqual([
      ['Two', toFile.url, 'Boat'],
      ['One', toPost.url, 'Boats'],
    ]);
    expect(mine[0]?.created_by).toMatchObject({ ref: maker.ref });
    const narrowed = await maker.ok('listOwnLinks', { query: { target_id: own.id } });
    expect(narrowed.items.map(({ id }) => id)).toEqual([toPost.id]);
    const all = await admin.ok('listAllLinks', { query: { limit: 3 } });
    expect(all.items.map(({ label, url, created_by }) => [label, url, created_by?.ref])).toEqual([
      ['Three', ofAdmin.url, admin.ref],
      ['Two', undefined, maker.ref],
      ['One', undefined, maker.ref],
    ]);
    expect((await owner.refused('listAllLinks')).status).toBe(403);
    // A renewed link belongs to the one who renewed it.
    const renewed = await admin.ok('renewLink', { params: { link: toPost.id }, body: undefined });
    const after = await maker.ok('listOwnLinks');
    expect(after.items.map(({ id }) => id)).toEqual([toFile.id]);
    const found = (await admin.ok('listOwnLinks')).items.find(({ id }) => id === toPost.id);
    expect(found?.url).toBe(renewed.url);
    // A creator who may no longer read the target does not see its title either.
    const curator = await library.join('harbourmaster');
    await grant(library, curator, 'posts.admin');
    await makeLink(curator, 'posts', own.id);
    const titles = async () => (await curator.ok('listOwnLinks')).items.map((link) => link.target_title);
    expect(await titles()).toEqual(['Boats']);
    await withdrawGrants(library, curator);
    expect(await titles()).toEqual([null]);
  });

  // LINK-7
  test('count what each link omits', async () => {
    const maker = await library.join('counter');
    const mature = await newAsset({ mature: 'true' }, maker);
    const shown = await newAsset({}, maker);
    const own = await publish(maker, [mature, shown]);
    const shelf = await maker.ok('createCollection', { body: { name: 'Shelf' } });
    await maker.ok('addToCollection', { params: { id: shelf.id, post_id: own.id } });
    await makeLink(maker, 'posts', own.id);
    await makeLink(maker, 'collections', shelf.id);
    await makeLink(maker, 'assets', shown.id);
    const { items } = await maker.ok('listOwnLinks');
    expect(items.map(({ target_kind, omitted_count }) => [target_kind, omitted_count])).toEqual([
      ['asset', 0],
      ['collection', 1],
      ['post', 1],
    ]);
  });

  // LINK-21
  test('count views and downloads for each file', async () => {
    const other = await newAsset({ title: 'Second' });
    const pair = await publish(owner, [asset, other], { title: 'Pair', visibility: 'private' });
    const made = await makeLink(owner, 'posts', pair.id, { allow_download: true });
    const below = `/links/${made.token}`;
    const visitor = library.anonymous();
    const view = { params: { token: made.token, id: asset.id } };
    await visitor.ok('recordLinkView', view);
    await visitor.ok('recordLinkView', view);
    const outside = { params: { token: made.token, id: (await newAsset()).id } };
    expect((await visitor.refused('recordLinkView', outside)).status).toBe(404);
    await visit(library, `${below}/assets/${asset.id}/variants/preview`);
    await visit(library, `${below}/assets/${asset.id}/variants/preview?download=true`);
    await visit(library, `${below}/archive`);
    const file = `${below}/assets/${other.id}/file?download=true`;
    await visit(library, file);
    for (const range of ['bytes=0-3', 'bytes=4-5']) await visitor.send(file, { headers: { range } });
    await visitor.send(file, { method: 'HEAD' });
    await visitor.send(file, { headers: { 'if-none-match': '*' } });
    const params = { link: made.id };
    const { items } = await owner.ok('listLinkViews', { params });
    const counts = items.map(({ title, view_count, download_count }) => [title, view_count, download_count]);
    expect(counts.toSorted()).toEqual([
      ['Harbour', 2, 2],
      ['Second', 0, 3],
    ]);
    expect(items.find(({ asset_id }) => asset_id === other.id)).toMatchObject({
      last_viewed_at: null,
      last_downloaded_at: expect.any(String),
    });
    const listed = (await owner.ok('listPostLinks', { params: { id: pair.id } })).items[0];
    expect(listed).toMatchObject({ view_count: 2, download_count: 5, opened_count: 0 });
    expect((await stranger.refused('listLinkViews', { params })).status).toBe(404);
    const pages = await pagesOf((from) =>
      owner.ok('listLinkViews', { params, query: { limit: 1, ...from } }),
    );
    expect(pages.flat()).toHaveLength(2);
  });
});

describe('a visitor with a link', () => {
  // LINK-12
  test('cannot use the token for other operations, as a cookie, session or bearer', async () => {
    const { token } = await makeLink(owner, 'posts', post.id, { password: 'boat' });
    const { cookie } = await unlock(library, token, 'boat');
    const disguises = [
      { cookie: `${cookie}; user=${token}` },
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer vt_pat_${token}` },
    ];
    const others = Object.values(operations).filter(({ door }) => door !== 'open');
    // Operations alternate between the disguises.
    const asked = others.map(async ({ id, method, path }, index) => {
      const at = path
        .replace('{id}', asset.id)
        .replace(/\{\w*ref\}/g, '1')
        .replace(/\{\w+\}/g, nowhere);
      const body = method === 'GET' ? {} : { body: {} };
      const headers = disguises[index % disguises.length] ?? {};
      return [id, (await library.anonymous().send(at, { method, headers, ...body })).status];
    });
    expect(await Promise.all(asked)).toEqual(others.map(({ id }) => [id, 401]));
  });

  // LINK-12
  test('sees the same when signed in, and gains nothing elsewhere', async () => {
    const { token } = await makeLink(owner, 'posts', post.id);
    const mine = await stranger.send(`/links/${token}`);
    expect([mine.status, mine.text]).toEqual([200, (await open(library, token)).text]);
    expect((await stranger.send(`/posts/${post.id}`)).status).toBe(404);
    expect((await stranger.send(`/assets/${asset.id}`)).status).toBe(404);
    expect((await stranger.send(`/assets/${asset.id}/file`)).status).toBe(404);
    const withPassword = await makeLink(owner, 'posts', post.id, { password: 'boat' });
    expect((await owner.send(`/links/${withPassword.token}`)).status).toBe(401);
  });
});
