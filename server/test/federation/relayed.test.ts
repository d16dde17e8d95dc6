import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { readActorKeys } from '../../src/federation/keys.ts';
import { postSigned } from '../../src/federation/outbound.ts';
import { signEnvelope } from '../../src/federation/protocol/signature.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { type Install, identityOf, openInstall, pair, reasonOf, settle } from './installs.ts';

let harbour: Install;
let studio: Install;
let gallery: Install;
let alice: Account;
let bob: Account;
let carol: Account;
let post: string;
const title = 'For two libraries';

const settleAll = () => settle(harbour, studio, gallery);

async function threadOf(account: Account) {
  const found = (await account.ok('listPosts')).items.find((one) => one.title === title);
  return (await account.ok('listComments', { params: { id: found?.id ?? '' } })).items;
}

const postOf = async (account: Account) =>
  (await account.ok('listPosts')).items.find((one) => one.title === title)?.id ?? '';

const rejections = async () =>
  (
    await Promise.all([harbour, studio, gallery].map(({ root }) => root.ok('listFederationRejections')))
  ).flatMap(({ items }) => items);

beforeAll(async () => {
  harbour = await openInstall('Harbour');
  studio = await openInstall('Studio');
  gallery = await openInstall('Gallery');
  const peers = [await pair(harbour, studio), await pair(harbour, gallery)];
  alice = await harbour.join('alice');
  bob = await studio.join('bob');
  carol = await gallery.join('carol');
  post = (await publish(alice, [await upload(alice, plainFile('both'))], { title })).id;
  await alice.ok('createComment', { params: { id: post }, body: { body: 'Before it was shared' } });
  for (const { peerOfOne } of peers)
    await alice.ok('putPostPeer', { params: { id: post, peer_id: peerOfOne }, body: { scope: 'comment' } });
  await settleAll();
});

// FED-36
describe('comments on a post that two peers have', () => {
  test('reach the other peer through the library of the post, with their author and library', async () => {
    await bob.ok('createComment', { params: { id: await postOf(bob) }, body: { body: 'From the studio' } });
    await settleAll();
    const [seen] = await threadOf(carol);
    expect(seen).toMatchObject({
      body: 'From the studio',
      remote_display_name: 'bob',
      origin: { display_name: 'Studio', instance_url: studio.address, author: 'bob' },
    });
    expect(seen).not.toHaveProperty('author');
    const [atHome] = await threadOf(alice);
    expect(atHome?.origin).toMatchObject({ display_name: 'Studio', instance_url: studio.address });
    const [own] = await threadOf(bob);
    expect(own).not.toHaveProperty('origin');
    expect(await rejections()).toEqual([]);
  });

  test('can be answered from every library', async () => {
    const [root] = await threadOf(carol);
    const parent_id = root?.id ?? '';
    await carol.ok('createComment', {
      params: { id: await postOf(carol) },
      body: { body: 'I agree', parent_id },
    });
    await settleAll();
    await alice.ok('createComment', {
      params: { id: post },
      body: { body: 'So do I', parent_id: (await threadOf(alice))[0]?.id ?? '' },
    });
    await settleAll();
    for (const account of [alice, bob, carol]) {
      const [thread] = await threadOf(account);
      expect(thread?.replies.map(({ body }) => body)).toEqual(['I agree', 'So do I']);
    }
    expect(await rejections()).toEqual([]);
  });

  test('change and disappear everywhere with the original', async () => {
    const id = (await threadOf(bob))[0]?.id ?? '';
    await bob.ok('updateComment', { params: { id }, body: { body: 'From the studio, corrected' } });
    await settleAll();
    expect((await threadOf(carol))[0]?.body).toBe('From the studio, corrected');
    await bob.ok('deleteComment', { params: { id } });
    await settleAll();
    expect([await threadOf(carol), await threadOf(alice)]).toMatchObject([
      [],
      [{ body: 'Before it was shared' }],
    ]);
    expect(await rejections()).toEqual([]);
  });

  test('are removed everywhere by the author of the post', async () => {
    await bob.ok('createComment', { params: { id: await postOf(bob) }, body: { body: 'Off topic' } });
    await settleAll();
    expect(await threadOf(carol)).toMatchObject([{ body: 'Off topic' }]);
    const id = (await threadOf(alice)).find(({ body }) => body === 'Off topic')?.id ?? '';
    await alice.ok('deleteComment', { params: { id } });
    await settleAll();
    expect([await threadOf(bob), await threadOf(carol)]).toEqual([[], []]);
  });

  // FED-32
  test('answer one that was written before the post was shared as comments of their own', async () => {
    const [old] = await threadOf(alice);
    expect(old?.body).toBe('Before it was shared');
    const body = { body: 'A late answer', parent_id: old?.id ?? '' };
    await alice.ok('createComment', { params: { id: post }, body });
    await settleAll();
    expect(await threadOf(carol)).toMatchObject([{ body: 'A late answer', parent_id: null }]);
    expect(await rejections()).toEqual([]);
  });

  // FED-78
  test('are sent again to a peer that was restored from a backup', async () => {
    await bob.ok('createComment', { params: { id: await postOf(bob) }, body: { body: 'Lost and found' } });
    await settleAll();
    expect((await threadOf(carol)).map(({ body }) => body)).toContain('Lost and found');
    await sql`with gone as (delete from comments where body = 'Lost and found' returning id)
      delete from federated_objects o using gone where o.local_id = gone.id`.execute(gallery.database.db);
    const url = `${harbour.address}/federation/changes/resend`;
    await postSigned(gallery.deps, await identityOf(gallery), url, { all: true });
    await settleAll();
    const again = (await threadOf(carol)).find(({ body }) => body === 'Lost and found');
    expect(again).toMatchObject({ remote_display_name: 'bob', origin: { display_name: 'Studio' } });
  });

  test('are not relayed to a peer that does not support it', async () => {
    const { db } = harbour.database;
    const { rows } = await sql<{ capabilities: string[] }>`select capabilities from federation_peers
      where instance_url = ${gallery.address}`.execute(db);
    const support = (capabilities: readonly string[]) =>
      sql`update federation_peers set capabilities = ${capabilities}::text[]
        where instance_url = ${gallery.address}`.execute(db);
    await support([]);
    await bob.ok('createComment', {
      params: { id: await postOf(bob) },
      body: { body: 'Not for the gallery' },
    });
    await settleAll();
    await support(rows[0]?.capabilities ?? []);
    expect((await threadOf(alice))[0]?.body).toBe('Not for the gallery');
    expect((await threadOf(carol)).map(({ body }) => body)).not.toContain('Not for the gallery');
    expect(await rejections()).toEqual([]);
  });

  test('are refused on posts of other libraries and on behalf of local people', async () => {
    const send = async (from: Install, author: Account, to: Install, onBehalfOf: string) => {
      const keys = await readActorKeys(from.deps, author.ref);
      if (keys === null) throw new Error('the author has no keys');
      const inReplyTo = `${harbour.address}/posts/${post}`;
      const now = new Date().toISOString();
      const actor = `${from.address}/users/${author.username}`;
      const envelope = {
        '@context': 'https://artist-alley.org/protocol/v1',
        type: 'Create',
        id: `${from.address}/activities/${randomUUID()}`,
        actor,
        published: now,
        object: {
          type: 'Note',
          id: `${from.address}/posts/${randomUUID()}#comment-${randomUUID()}`,
          attributedTo: actor,
          attributedToName: 'alice',
          onBehalfOf: { id: onBehalfOf, library: 'Harbour' },
          content: 'Never written',
          inReplyTo,
          published: now,
          updated: now,
        },
      };
      const signed = signEnvelope(envelope, `${actor}#main-key`, keys.signingPrivate);
      return postSigned(from.deps, await identityOf(from), `${to.address}/federation/inbox`, signed);
    };
    const refused = [
      await reasonOf(send(harbour, alice, studio, `${studio.address}/users/bob`)),
      await reasonOf(send(studio, bob, harbour, `${gallery.address}/users/carol`)),
      await reasonOf(send(studio, bob, harbour, `${studio.address}/users/eve`)),
    ];
    expect(refused).toEqual(['unknown_actor', 'unknown_actor', 'malformed']);
    for (const account of [alice, bob])
      expect((await threadOf(account)).map(({ body }) => body)).not.toContain('Never written');
  });
});

// FED-34
test('a shared collection names the library it comes from', async () => {
  const collection = await alice.ok('createCollection', { body: { name: 'Shared shelf' } });
  await alice.ok('addToCollection', { params: { id: collection.id, post_id: post } });
  const [peer] = (await harbour.root.ok('listPeers')).items;
  await alice.ok('putCollectionPeer', { params: { id: collection.id, peer_id: peer?.id ?? '' }, body: {} });
  await settleAll();
  const found = [
    ...(await bob.ok('listCollections')).items,
    ...(await carol.ok('listCollections')).items,
  ].filter(({ name }) => name === 'Shared shelf');
  expect(found).toMatchObject([
    { origin: { display_name: 'Harbour', instance_url: harbour.address, author: 'alice' } },
  ]);
  expect(await alice.ok('getCollection', { params: { id: collection.id } })).not.toHaveProperty('origin');
});
