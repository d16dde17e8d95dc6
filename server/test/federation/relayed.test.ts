import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Account, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import {
  envelopeOf,
  type Install,
  noteOf,
  openInstall,
  pair,
  postOf,
  reasonOf,
  rejectionsAt,
  send,
  settle,
} from './installs.ts';

const title = 'For two libraries';
const before = 'Before it was shared';

const settleAll = () => settle(harbour, studio, gallery);

async function threadOf(account: Account) {
  const { id } = await postOf(account, title);
  return (await account.ok('listComments', { params: { id } })).items;
}
const bodiesOf = async (account: Account) => (await threadOf(account)).map(({ body }) => body);

/** Comments on the account's copy of the post, and delivers the comment to all libraries. */
async function say(account: Account, body: string, parent_id: string | null = null): Promise<void> {
  const { id } = await postOf(account, title);
  await account.ok('createComment', { params: { id }, body: { body, parent_id } });
  await settleAll();
}

const harbour = await openInstall('Harbour');
const studio = await openInstall('Studio');
const gallery = await openInstall('Gallery');
const peers = [(await pair(harbour, studio)).peerOfOne, (await pair(harbour, gallery)).peerOfOne];
const alice = await harbour.join('alice');
const bob = await studio.join('bob');
const carol = await gallery.join('carol');
const post = (await publish(alice, [await upload(alice, plainFile('both'))], { title })).id;
await alice.ok('createComment', { params: { id: post }, body: { body: 'Before it was shared' } });
for (const peer_id of peers)
  await alice.ok('putPostPeer', { params: { id: post, peer_id }, body: { scope: 'comment' } });
await settleAll();

// FED-36
describe('comments on a post that two peers have', () => {
  test('reach the other peer through the library of the post, with their author and library', async () => {
    await say(bob, 'From the studio');
    const [seen] = await threadOf(carol);
    expect(seen).toMatchObject({
      body: 'From the studio',
      remote_display_name: 'bob',
      origin: { display_name: 'Studio', instance_url: studio.address, author: 'bob', via: 'Harbour' },
    });
    expect(seen).not.toHaveProperty('author');
    const [atHome] = await threadOf(alice);
    expect(atHome?.origin).toMatchObject({ display_name: 'Studio', instance_url: studio.address });
    expect(atHome?.origin).not.toHaveProperty('via');
    expect((await threadOf(bob))[0]).not.toHaveProperty('origin');
  });

  test('can be answered from every library', async () => {
    await say(carol, 'I agree', (await threadOf(carol))[0]?.id);
    await say(alice, 'So do I', (await threadOf(alice))[0]?.id);
    for (const account of [alice, bob, carol]) {
      const [thread] = await threadOf(account);
      expect(thread?.replies.map(({ body }) => body)).toEqual(['I agree', 'So do I']);
    }
  });

  test('change and disappear everywhere with the original', async () => {
    const id = (await threadOf(bob))[0]?.id ?? '';
    await bob.ok('updateComment', { params: { id }, body: { body: 'From the studio, corrected' } });
    await settleAll();
    expect(await bodiesOf(carol)).toEqual(['From the studio, corrected', before]);
    await bob.ok('deleteComment', { params: { id } });
    await settleAll();
    expect([await bodiesOf(carol), await bodiesOf(alice)]).toEqual([[before], [before]]);
  });

  test('are removed everywhere by the author of the post', async () => {
    await say(bob, 'Off topic');
    expect(await bodiesOf(carol)).toEqual(['Off topic', before]);
    const id = (await threadOf(alice)).find(({ body }) => body === 'Off topic')?.id ?? '';
    await alice.ok('deleteComment', { params: { id } });
    await settleAll();
    expect([await bodiesOf(bob), await bodiesOf(carol)]).toEqual([[before], [before]]);
  });

  // FED-32
  test('answer one that was written before the post was shared in its thread', async () => {
    const [old] = await threadOf(alice);
    expect(old?.body).toBe('Before it was shared');
    await say(alice, 'A late answer', old?.id);
    expect(await threadOf(carol)).toMatchObject([{ body: before, replies: [{ body: 'A late answer' }] }]);
  });

  // FED-78
  test('are sent again to a peer that was restored from a backup', async () => {
    await say(bob, 'Lost and found');
    expect(await bodiesOf(carol)).toContain('Lost and found');
    await sql`with gone as (delete from comments where body = 'Lost and found' returning id)
      delete from federated_objects o using gone where o.local_id = gone.id`.execute(gallery.database.db);
    await send(gallery, harbour, { all: true }, 'changes/resend');
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
    await say(bob, 'Not for the gallery');
    await support(rows[0]?.capabilities ?? []);
    expect(await bodiesOf(alice)).toContain('Not for the gallery');
    expect(await bodiesOf(carol)).not.toContain('Not for the gallery');
    expect(await Promise.all([harbour, studio, gallery].map(rejectionsAt))).toEqual([[], [], []]);
  });

  test('are refused on posts of other libraries and on behalf of local people', async () => {
    const relay = async (from: Install, author: Account, to: Install, id: string) => {
      const onBehalfOf = { id, library: 'Harbour' };
      const object = noteOf(from, author, `${harbour.address}/posts/${post}`, { onBehalfOf });
      return reasonOf(send(from, to, await envelopeOf(from, author, { type: 'Create', object })));
    };
    expect([
      await relay(harbour, alice, studio, `${studio.address}/users/bob`),
      await relay(studio, bob, harbour, `${gallery.address}/users/carol`),
      await relay(studio, bob, harbour, `${studio.address}/users/eve`),
    ]).toEqual(['unknown_actor', 'unknown_actor', 'malformed']);
    for (const account of [alice, bob])
      expect(await bodiesOf(account)).not.toContain('Written by other code');
  });
});

// FED-34
test('a shared collection names the library it comes from', async () => {
  const { id } = await alice.ok('createCollection', { body: { name: 'Shared shelf' } });
  await alice.ok('addToCollection', { params: { id, post_id: post } });
  await alice.ok('putCollectionPeer', { params: { id, peer_id: peers[0] ?? '' }, body: {} });
  await settleAll();
  const found = [...(await bob.ok('listCollections')).items, ...(await carol.ok('listCollections')).items];
  const origin = { display_name: 'Harbour', instance_url: harbour.address, author: 'alice' };
  expect(found.filter(({ name }) => name === 'Shared shelf')).toMatchObject([{ origin }]);
  expect(await alice.ok('getCollection', { params: { id } })).not.toHaveProperty('origin');
});
