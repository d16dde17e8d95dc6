import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import { keepFederation, openPair, rowsOf, settle } from './installs.ts';

const { harbour, studio, peerOfOne: peer_id, peerOfOther } = await openPair();
const alice = await harbour.join('alice');
const [bob, eve, tess] = [await studio.join('bob'), await studio.join('eve'), await studio.join('tess')];
await addTeam(studio, 'readers', [tess]);
await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
await studio.root.ok('updatePeer', { params: { id: peerOfOther }, body: { accept_public: true } });
await studio.setPublicMode(true);

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
let files = 0;
const picture = async (title: string, fields: Record<string, string> = {}) => {
  files += 1;
  return upload(alice, await jpeg(40, 30, { seed: 100 + files }), { title, sensitivity: 'posts', ...fields });
};

/** Lets an hour and a second pass for everything at the studio that ends, without running a job. */
async function passAnHour(): Promise<void> {
  const ends = [
    ['federation_grants', 'expires_at'],
    ['post_shares', 'expires_at'],
    ['collection_shares', 'expires_at'],
    ['asset_shares', 'expires_at'],
    ['posts', 'visible_until'],
    ['assets', 'visible_until'],
    ['collections', 'visible_until'],
  ] as const;
  for (const [table, column] of ends)
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - interval '3601 seconds'
      where ${sql.ref(column)} is not null`.execute(studio.database.db);
}

const idAt = async (table: 'posts' | 'assets' | 'collections', column: 'title' | 'name', text: string) => {
  const [row] = await rowsOf(
    studio,
    sql<{ id: string }>`select id from ${sql.table(table)} where ${sql.ref(column)} = ${text}`,
  );
  if (row === undefined) throw new Error(`${text} did not arrive`);
  return row.id;
};

type Audience = { person?: string; team?: string };
const audiences: [string, Audience, readonly (Account | Visitor)[], readonly (Account | Visitor)[]][] = [
  ['everyone', {}, [bob, eve, studio.root, studio.anonymous()], []],
  ['a person', { person: 'bob' }, [bob, studio.root], [eve, studio.anonymous()]],
  ['a team', { team: 'readers' }, [tess, studio.root], [bob, studio.anonymous()]],
];

// FED-33
describe.each(audiences)('what is shared with %s for a time', (name, audience, readers, others) => {
  const body = { ...audience, expires_at: inAnHour() };
  const [ofPost, ofCollection] = [`Post for ${name}`, `Collected for ${name}`];

  test('is visible until then, and not until a job removes it', async () => {
    const alone = await picture(`Alone for ${name}`);
    const post = await publish(alice, [await picture(`Member for ${name}`)], {
      title: ofPost,
      visibility: 'public',
    });
    const collected = await publish(alice, [await picture(`Collected member for ${name}`)], {
      title: ofCollection,
      visibility: 'public',
    });
    const collection = await alice.ok('createCollection', { body: { name: `Collection for ${name}` } });
    await alice.ok('addToCollection', { params: { id: collection.id, post_id: collected.id } });
    await alice.ok('putAssetPeer', { params: { id: alone.id, peer_id }, body });
    await alice.ok('putPostPeer', { params: { id: post.id, peer_id }, body });
    await alice.ok('putCollectionPeer', { params: { id: collection.id, peer_id }, body });
    await settle(harbour, studio);

    const [member, collectedMember, single] = [
      await idAt('assets', 'title', `Member for ${name}`),
      await idAt('assets', 'title', `Collected member for ${name}`),
      await idAt('assets', 'title', `Alone for ${name}`),
    ];
    const pages = [
      `/posts/${await idAt('posts', 'title', ofPost)}`,
      `/posts/${await idAt('posts', 'title', ofCollection)}`,
      `/assets/${member}`,
      `/assets/${member}/variants/col`,
      `/assets/${collectedMember}`,
    ];
    const forAccounts = [
      `/assets/${single}`,
      `/assets/${single}/variants/col`,
      `/collections/${await idAt('collections', 'name', `Collection for ${name}`)}`,
    ];
    const visitor = studio.anonymous();
    const pagesOf = (who: Visitor) => ('ref' in who ? [...pages, ...forAccounts] : pages);
    const seen = async (who: Visitor) =>
      Promise.all(pagesOf(who).map(async (path) => [path, await who.status('GET', path)]));
    const all = (who: Visitor, status: number) => pagesOf(who).map((path) => [path, status]);
    const feed = async (who: Visitor) =>
      (await who.ok('listPosts', { query: { limit: 100 } })).items
        .map(({ title }) => title)
        .filter((title) => title === ofPost || title === ofCollection)
        .toSorted();
    // A rendition that could not be fetched at once is fetched again later.
    const seenInTheEnd = async (who: Visitor) => {
      await settle(harbour, studio);
      return seen(who);
    };
    for (const who of readers) {
      await expect.poll(() => seenInTheEnd(who)).toEqual(all(who, 200));
      expect(await feed(who)).toEqual([ofCollection, ofPost].toSorted());
    }
    for (const who of others) expect(await feed(who)).toEqual([]);

    await passAnHour();
    for (const who of [...readers, ...others, visitor]) {
      expect(await seen(who)).toEqual(all(who, 404));
      expect(await feed(who)).toEqual([]);
    }
    for (const q of [ofPost, `Alone for ${name}`, `Collection for ${name}`])
      for (const who of [bob, studio.root]) {
        const found = JSON.parse((await who.send(`/search?q=${encodeURIComponent(`"${q}"`)}`)).text);
        expect([q, JSON.stringify(found).includes(`"${q}"`)]).toEqual([q, false]);
      }
    await keepFederation(studio);
    expect(await rowsOf(studio, sql`select from posts where title in (${ofPost}, ${ofCollection})`)).toEqual(
      [],
    );
  });
});

// FED-33
test('what another share still covers stays visible, without waiting for a job', async () => {
  const shared = await picture('In two posts');
  const [short, long] = [
    await publish(alice, [shared], { title: 'Short', visibility: 'public' }),
    await publish(alice, [shared], { title: 'Long', visibility: 'public' }),
  ];
  await alice.ok('putPostPeer', { params: { id: short.id, peer_id }, body: { expires_at: inAnHour() } });
  await alice.ok('putPostPeer', { params: { id: long.id, peer_id }, body: { person: 'bob' } });
  await settle(harbour, studio);
  const path = `/assets/${await idAt('assets', 'title', 'In two posts')}`;
  const statuses = async () =>
    Promise.all([bob, eve, studio.root, studio.anonymous()].map((who) => who.status('GET', path)));
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  await passAnHour();
  expect(await statuses()).toEqual([200, 404, 200, 404]);
  const received = async () => (await studio.root.ok('listPeers')).items.map((peer) => peer.received_count);
  const inForce = await received();
  await keepFederation(studio);
  expect(await statuses()).toEqual([200, 404, 200, 404]);
  expect(await received()).toEqual(inForce);
  const kept = sql`select visible_until from assets where title = 'In two posts'`;
  expect(await rowsOf(studio, kept)).toEqual([{ visible_until: null }]);
});

// FED-33, FED-55
test('restricted content is visible to the person until its share ends', async () => {
  const secret = await picture('Sealed', { sensitivity: 'restricted' });
  const { id } = await publish(alice, [await picture('Open'), secret], { title: 'Half sealed' });
  const body = { person: 'bob', confirm_sensitive: true };
  await alice.ok('putPostPeer', { params: { id, peer_id }, body: { ...body, expires_at: inAnHour() } });
  await settle(harbour, studio);
  const path = `/assets/${await idAt('assets', 'title', 'Sealed')}`;
  const [before] = [await bob.send(path)];
  expect(JSON.parse(before.text)).toMatchObject({ restricted: false, title: 'Sealed' });
  await passAnHour();
  expect(await bob.status('GET', path)).toBe(404);
  expect(await bob.status('GET', `${path}/variants/col`)).toBe(404);
});

// FED-33
test('a share that is repeated with another end, or without one, lasts as long as it says', async () => {
  const { id } = await publish(alice, [await picture('Extended')], { title: 'Extended post' });
  const params = { id, peer_id };
  await alice.ok('putPostPeer', { params, body: { person: 'bob', expires_at: inAnHour() } });
  await settle(harbour, studio);
  await alice.ok('putPostPeer', { params, body: { person: 'bob' } });
  await settle(harbour, studio);
  await passAnHour();
  expect(await bob.status('GET', `/posts/${await idAt('posts', 'title', 'Extended post')}`)).toBe(200);
});

// FED-33
test('both libraries apply the end of a share, and of a shared collection, at that time', async () => {
  const expires_at = inAnHour();
  const dueAt = (install: typeof harbour, at: string) =>
    rowsOf(
      install,
      sql`select from graphile_worker.jobs where task_identifier = 'keep-federation' and run_at = ${at}::timestamptz`,
    );
  const { id } = await publish(alice, [await picture('Due')], { title: 'Due post' });
  await alice.ok('putPostPeer', { params: { id, peer_id }, body: { expires_at } });
  await settle(harbour, studio);
  for (const install of [harbour, studio]) expect(await dueAt(install, expires_at)).toHaveLength(1);
  const collection = await alice.ok('createCollection', { body: { name: 'Due', expires_at: inAnHour() } });
  await alice.ok('putCollectionPeer', { params: { id: collection.id, peer_id }, body: {} });
  expect(await dueAt(harbour, collection.expires_at ?? '')).toHaveLength(1);
  const later = new Date(Date.now() + 7_200_000).toISOString();
  await alice.ok('updateCollection', { params: { id: collection.id }, body: { expires_at: later } });
  expect(await dueAt(harbour, later)).toHaveLength(1);
});
