import type { Visibility } from '@vitrine/contract/visibilities';
import { sql, type Updateable } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Tables } from '../../src/platform/database/tables.ts';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { anotherSession, bearer, grant, revoke } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const clerk = await library.join('clerk');
await grant(library, clerk, ['users.write', 'users.read']);
const picture = await jpeg(40, 30);

let people = 0;
/** Two accounts of which the first has made something of every kind. */
async function pair() {
  people += 1;
  const [from, to] = [await library.join(`from-${people}`), await library.join(`to-${people}`)];
  const asset = await upload(from, picture, { sensitivity: 'posts' });
  const post = await publish(from, [asset], { visibility: 'public' });
  await from.ok('createCollection', { body: { name: `Of ${people}` } });
  await from.ok('createComment', { params: { id: post.id }, body: { body: 'Mine' } });
  await from.ok('createPostLink', { params: { id: post.id }, body: {} });
  return { from, to, asset, post };
}

const made = { assets: 1, posts: 1, collections: 1, comments: 1, whiteboards: 0 };
const stays = { kept_assets: 0, kept_posts: 0, ended_links: 1 };
const transfer = (from: Account, to: Account, dry_run = false) =>
  root.ok('transferUser', { params: { ref: from.ref }, body: { to: to.ref, dry_run } });
const merge = (from: Account, into: Account, dry_run = false) =>
  root.ok('mergeUser', { params: { ref: from.ref }, body: { into: into.ref, dry_run } });
const ownerOf = async (id: string) =>
  (await db.selectFrom('assets').select('owner_user_ref').where('id', '=', id).executeTakeFirst())
    ?.owner_user_ref;
const follow = (who: Account, whom: Account) => who.ok('followUser', { params: { ref: whom.ref } });
const readsPost = async (who: Account, id: string) => (await who.status('GET', `/posts/${id}`)) === 200;
const readsAsset = async (who: Account, id: string) => (await who.status('GET', `/assets/${id}`)) === 200;

describe('POST /admin/users/{ref}/transfer', () => {
  // TRANSFER-1, TRANSFER-4, TRANSFER-5
  test('moves what an account has made, ends its links, and returns the same counts in a dry run', async () => {
    const { from, to, asset, post } = await pair();
    expect(await transfer(from, to, true)).toEqual({ ...made, ...stays });
    expect(await ownerOf(asset.id)).toBe(from.ref);
    expect(await auditEvents(library, { event: 'user.transferred', subject_user_ref: from.ref })).toEqual([]);
    expect(await transfer(from, to)).toEqual({ ...made, ...stays });
    expect(await ownerOf(asset.id)).toBe(to.ref);
    expect((await to.ok('getPost', { params: { id: post.id } })).author?.ref).toBe(to.ref);
    const events = await auditEvents(library, { event: 'user.transferred', subject_user_ref: from.ref });
    expect(events.map(({ metadata }) => metadata)).toEqual([{ to: to.ref, ...made, ...stays }]);
    expect(await transfer(from, to)).toMatchObject({ assets: 0, posts: 0, comments: 0, ended_links: 0 });
    expect(await from.status('GET', '/me')).toBe(200);
  });

  // TRANSFER-1
  test('gives the other account the folders left in place', async () => {
    const { from, to } = await pair();
    const root = { path: `/nowhere/${people}`, owner_user_ref: from.ref, sensitivity: 'org' as const };
    const { id } = await db.insertInto('roots').values(root).returning('id').executeTakeFirstOrThrow();
    await transfer(from, to);
    const row = db.selectFrom('roots').select('owner_user_ref').where('id', '=', id);
    expect((await row.executeTakeFirst())?.owner_user_ref).toBe(to.ref);
  });

  test('needs `system.admin` and two accounts that exist', async () => {
    const { from, to } = await pair();
    const path = `/admin/users/${from.ref}/transfer`;
    expect(await clerk.status('POST', path, { to: to.ref })).toBe(403);
    expect(await root.status('POST', path, { to: from.ref })).toBe(400);
    expect(await root.status('POST', path, { to: 999_999 })).toBe(404);
    expect(await root.status('POST', '/admin/users/999999/transfer', { to: to.ref })).toBe(404);
  });

  // TRANSFER-3
  test('shows what followers see to the same people by name, and to no follower of the other account', async () => {
    const { from, to } = await pair();
    const [fan, stranger, named] = [
      await library.join(`fan-${people}`),
      await library.join(`stranger-${people}`),
      await library.join(`named-${people}`),
    ];
    await follow(fan, from);
    await follow(stranger, to);
    const post = await publish(from, [await upload(from, picture)], { visibility: 'followers' });
    const collection = await from.ok('createCollection', {
      body: { name: 'For followers', visibility: 'followers' },
    });
    // A share of a time when the post was shared by name.
    await db.insertInto('post_shares').values({ post_id: post.id, user_ref: named.ref }).execute();
    await transfer(from, to);
    const reads = await Promise.all([fan, stranger, named, to].map((one) => readsPost(one, post.id)));
    expect(reads).toEqual([true, false, false, true]);
    const statuses = [fan, stranger].map((one) => one.status('GET', `/collections/${collection.id}`));
    expect(await Promise.all(statuses)).toEqual([200, 404]);
  });

  // TRANSFER-2
  test('keeps assets and posts that would be shown to more people', async () => {
    const { from, to } = await pair();
    const reader = await library.join(`reader-${people}`);
    const secret = await upload(from, picture, { sensitivity: 'posts' });
    const theirs = await upload(to, picture, { sensitivity: 'posts' });
    const [wide, mine] = [
      await publish(to, [await upload(to, picture)], { visibility: 'org-only' }),
      await publish(from, [await upload(from, picture)], { visibility: 'org-only' }),
    ];
    // Members of other owners, which the posts do not pass on.
    await db
      .insertInto('post_members')
      .values([
        { post_id: wide.id, asset_id: secret.id, sort_order: 9 },
        { post_id: mine.id, asset_id: theirs.id, sort_order: 9 },
      ])
      .execute();
    const before = await Promise.all([secret, theirs].map(({ id }) => readsAsset(reader, id)));
    expect(before).toEqual([false, false]);
    expect(await transfer(from, to)).toMatchObject({ kept_assets: 1, kept_posts: 1 });
    expect(await Promise.all([secret, theirs].map(({ id }) => readsAsset(reader, id)))).toEqual(before);
    expect([await ownerOf(secret.id), await ownerOf(theirs.id)]).toEqual([from.ref, to.ref]);
  });

  /**
   * Cases of an asset of sensitivity `posts` and a published post for all members that has it without passing it on: what
   * else is true of them, and whether they are kept.
   */
  const opening: readonly {
    what: string;
    kept: boolean;
    asset?: Partial<Updateable<Tables['assets']>>;
    post?: Partial<Updateable<Tables['posts']>>;
    /** The visibility of a post of the asset's owner, which passes it on. */
    shownBy?: Visibility;
    isThumbnail?: true;
    isDraft?: true;
    inOneTeam?: true;
  }[] = [
    { what: 'nobody is shown it yet', kept: true },
    { what: 'it is the thumbnail', kept: true, isThumbnail: true },
    { what: 'some people are shown it by name', kept: true, shownBy: 'explicit-share' },
    {
      what: 'followers are shown it, and people by name would be',
      kept: true,
      shownBy: 'followers',
      post: { visibility: 'explicit-share' },
    },
    {
      what: 'members are shown it, and everyone would be',
      kept: true,
      shownBy: 'org-only',
      post: { visibility: 'public' },
    },
    { what: 'members are shown it already', kept: false, shownBy: 'org-only' },
    { what: 'everyone is shown it already', kept: false, shownBy: 'public' },
    {
      what: 'everyone is shown it already, and the post is for people by name',
      kept: false,
      shownBy: 'public',
      post: { visibility: 'explicit-share' },
    },
    { what: 'no post passes it on', kept: false, asset: { sensitivity: 'restricted' } },
    { what: 'it is in the trash', kept: false, asset: { deleted_at: new Date().toISOString() } },
    { what: 'the post is in the trash', kept: false, post: { deleted_at: new Date().toISOString() } },
    { what: 'the post is a draft', kept: false, isDraft: true },
    { what: 'both are of one team', kept: false, inOneTeam: true },
    {
      what: 'both are of one team, and followers see the post',
      kept: false,
      inOneTeam: true,
      post: { visibility: 'followers' },
    },
    {
      what: 'it is the thumbnail, and members are shown it already',
      kept: false,
      isThumbnail: true,
      shownBy: 'org-only',
    },
  ];

  /** Returns an asset of one account and a post of the other for each case. */
  async function makeOpening(owner: Account, author: Account) {
    const cases = [];
    for (const { what, kept, asset, post, shownBy, isThumbnail, isDraft, inOneTeam } of opening) {
      const { id } = await upload(owner, plainFile(what), { sensitivity: 'posts', title: what });
      if (shownBy !== undefined) await publish(owner, [{ id }], { visibility: shownBy });
      const other = await publish(author, [await upload(author, plainFile(`beside ${what}`))], {
        visibility: 'org-only',
        draft: isDraft === true,
      });
      const team_id = inOneTeam ? await addTeam(library, `both-${other.id}`) : null;
      await db
        .updateTable('assets')
        .set({ team_id, ...asset })
        .where('id', '=', id)
        .execute();
      const thumbnail = isThumbnail ? { cover_thumbnail_asset_id: id } : {};
      await db
        .updateTable('posts')
        .set({ team_id, ...thumbnail, ...post })
        .where('id', '=', other.id)
        .execute();
      const member = { post_id: other.id, asset_id: id, sort_order: 9 };
      if (isThumbnail === undefined) await db.insertInto('post_members').values(member).execute();
      cases.push({ what, kept, asset: id, post: other.id });
    }
    return cases;
  }

  // TRANSFER-2
  test('keeps an asset exactly where a post of the other account would show it to more people', async () => {
    const { from, to } = await pair();
    const cases = await makeOpening(from, to);
    await transfer(from, to);
    for (const { what, kept, asset } of cases)
      expect([what, await ownerOf(asset)]).toEqual([what, kept ? from.ref : to.ref]);
  });

  // TRANSFER-2
  test('keeps a post exactly where it would show an asset of the other account to more people', async () => {
    const { from, to } = await pair();
    const cases = await makeOpening(to, from);
    await transfer(from, to);
    const posts = await db.selectFrom('posts').select(['id', 'author_user_ref']).execute();
    for (const { what, kept, post } of cases)
      expect([what, posts.find(({ id }) => id === post)?.author_user_ref]).toEqual([
        what,
        kept ? from.ref : to.ref,
      ]);
  });

  // TRANSFER-5
  test('moves everything once when two run at once', async () => {
    const { from, to, asset } = await pair();
    const other = await library.join(`other-${people}`);
    const counts = await Promise.all([transfer(from, to), transfer(from, other)]);
    expect(counts.map(({ assets }) => assets).sort()).toEqual([0, 1]);
    expect([to.ref, other.ref]).toContain(await ownerOf(asset.id));
  });

  // TRANSFER-5
  test('moves nothing when it is interrupted, and can be repeated', async () => {
    const { from, to, asset } = await pair();
    const path = `/admin/users/${from.ref}/transfer`;
    const status = await db.transaction().execute(async (tx) => {
      await sql`select from comments where author_user_ref = ${from.ref} for update`.execute(tx);
      const answer = root.status('POST', path, { to: to.ref });
      expect(await comeToWait(db)).toBe(true);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      return answer;
    });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(await ownerOf(asset.id)).toBe(from.ref);
    expect(await transfer(from, to)).toMatchObject(made);
  });
});

describe('POST /admin/users/{ref}/merge', () => {
  // MERGE-1, MERGE-2, MERGE-4
  test('moves what belongs to the person, ends sessions and tokens, and archives the account', async () => {
    const { from, to, asset, post } = await pair();
    const [shared, both] = [
      await addTeam(library, `a-${people}`, [from]),
      await addTeam(library, `b-${people}`, [from, to]),
    ];
    await grant(library, from, ['posts.admin', 'jobs.read']);
    await grant(library, to, 'jobs.read');
    await revoke(library, from, 'posts.comment');
    const script = await bearer(library, from, ['read']);
    const second = await anotherSession(library, from);
    await root.ok('putAssetShare', {
      params: { id: (await upload(root, picture, { sensitivity: 'restricted' })).id, user_ref: from.ref },
      body: {},
    });
    await from.ok('likePost', { params: { id: post.id } });
    const counts = {
      ...made,
      ...stays,
      teams: 1,
      grants: 1,
      revokes: 1,
      shares: 1,
      identities: 0,
      likes: 1,
      // It watches the post on which it commented.
      follows: 1,
      searches: 0,
      ended_tokens: 1,
      ended_sessions: 2,
    };
    const before = await to.ok('getMe');
    expect(await merge(from, to, true)).toMatchObject(counts);
    expect(await from.status('GET', '/me')).toBe(200);
    expect((await to.ok('getMe')).capabilities).toEqual(before.capabilities);
    expect(await merge(from, to)).toMatchObject(counts);
    const left = await Promise.all([from, second, script].map((one) => one.status('GET', '/me')));
    expect(left).toEqual([401, 401, 401]);
    expect((await root.ok('getAdminUser', { params: from })).status).toBe('archived');
    expect(await ownerOf(asset.id)).toBe(to.ref);
    const { capabilities = [] } = await to.ok('getMe');
    expect(capabilities).toEqual(expect.arrayContaining(['posts.admin', 'jobs.read']));
    expect(capabilities).not.toContain('posts.comment');
    expect((await to.ok('listMyTeams')).map(({ id }) => id).sort()).toEqual([shared, both].sort());
    expect((await to.ok('getPost', { params: { id: post.id } })).like_count).toBe(1);
    const [event] = await auditEvents(library, { event: 'user.merged', subject_user_ref: to.ref });
    expect(event?.metadata).toMatchObject({ from: from.ref, username: from.username });
    expect(await merge(from, to)).toMatchObject({ assets: 0, teams: 0, ended_sessions: 0 });
  });

  // MERGE-3
  test('gives the other account no followers, and hides its name from visitors if the account did', async () => {
    const { from, to } = await pair();
    const fan = await library.join(`fan-${people}`);
    await follow(fan, from);
    await follow(from, root);
    await follow(from, to);
    await from.ok('updateUser', { params: { ref: from.ref }, body: { hide_from_anonymous: true } });
    const own = await publish(to, [await upload(to, picture)], { visibility: 'followers' });
    expect((await merge(from, to)).follows).toBeGreaterThanOrEqual(1);
    expect(await readsPost(fan, own.id)).toBe(false);
    expect((await to.ok('getUserFollow', { params: { ref: root.ref } })).following).toBe(true);
    expect((await to.ok('getAccountProfile')).hide_from_anonymous).toBe(true);
  });

  // MERGE-1
  test('moves reviews with their decisions, unless the other account is a reviewer, too', async () => {
    const { from, to } = await pair();
    const asset = await upload(root, picture, { sensitivity: 'org' });
    const reviewOf = async (reviewers: number[]) => {
      const { id } = await publish(root, [asset], { visibility: 'org-only' });
      return (await root.ok('requestReview', { params: { id }, body: { reviewers } })).id;
    };
    const [decided, asked, both] = [
      await reviewOf([from.ref]),
      await reviewOf([from.ref]),
      await reviewOf([from.ref, to.ref]),
    ];
    const assets = [{ asset_id: asset.id, decision: 'changes_requested' as const, note: 'Crop it' }];
    for (const id of [decided, both])
      await from.ok('decideReview', { params: { id }, body: { decision: 'approved', note: 'Fine', assets } });
    await merge(from, to);
    const reviewers = async (id: string) =>
      (await root.ok('getReview', { params: { id } })).reviewers.map(({ user, decision, assets: files }) => [
        user?.ref,
        decision,
        files?.length ?? 0,
      ]);
    expect(await reviewers(decided)).toEqual([[to.ref, 'approved', 1]]);
    expect(await reviewers(asked)).toEqual([[to.ref, null, 0]]);
    expect(await reviewers(both)).toEqual([[to.ref, null, 0]]);
    const { items } = await to.ok('listMyReviews', { query: { state: 'waiting_for_me' } });
    expect(items.map(({ id }) => id).sort()).toEqual([asked, both].sort());
  });

  // ROLE-11
  test('refuses to archive the last administrator, even in a dry run', async () => {
    const { to } = await pair();
    for (const dry_run of [true, false])
      expect(
        await root.refused('mergeUser', { params: root, body: { into: to.ref, dry_run } }),
      ).toMatchObject({
        status: 400,
        error: 'that would leave the library without an administrator',
      });
    expect(await root.status('GET', '/me')).toBe(200);
  });
});
