import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { readActorKeys } from '../../src/exchange/federation/keys.ts';
import { getJson, postSigned } from '../../src/exchange/federation/outbound.ts';
import { signHttp } from '../../src/exchange/federation/protocol/http-signature.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import {
  envelopeOf,
  identityOf,
  keepFederation,
  noteOf,
  openInstall,
  openPair,
  PROTOCOL,
  pair,
  postOf,
  reasonOf,
  rejectionsAt,
  rowsOf,
  send,
  settle,
  sharePost,
  skipPauses,
  titlesOf,
  verifyOffers,
} from './installs.ts';

const { harbour, studio, peerOfOne, peerOfOther } = await openPair();
const [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];

/** The envelopes that the harbour keeps. */
const keptEnvelopes = sql`select activity from federation_outbox where envelope is not null or preludes <> '{}'`;

const peerAtHarbour = () => harbour.root.ok('getPeer', { params: { id: peerOfOne } });

// FED-2
test('a library without a public address serves no federation endpoints and cannot pair', async () => {
  const library = await openInstall('Unaddressed');
  const { db } = library.database;
  const noPath = 'peers need a public address with https and without a path';
  for (const [address, reason] of [
    [null, 'set the public address of this library first'],
    ['https://harbour.example/media', noPath],
    ['http://harbour.example', noPath],
  ]) {
    await writeSetting(db, 'base_url', address ?? null);
    expect((await fetch(`${library.address}/federation/instance`)).status).toBe(404);
    expect(await library.root.ok('getFederation')).toMatchObject({ instance_url: null });
    const refused = await library.root.refused('addPeer', { body: { address: harbour.address } });
    expect(refused).toMatchObject({ status: 409, error: expect.stringContaining(reason ?? '') });
  }
  await writeSetting(db, 'base_url', 'HTTPS://Harbour.Example:443/');
  expect(await library.root.ok('getFederation')).toMatchObject({ instance_url: 'https://harbour.example' });
});

describe('pairing', () => {
  // FED-10
  test('refuses its own address, a known one and one without an install', async () => {
    const add = (address: string) => harbour.root.status('POST', '/admin/peers', { address });
    const addresses = [harbour.address, studio.address, 'http://127.0.0.1:9', 'not an address'];
    expect(await Promise.all(addresses.map(add))).toEqual([409, 409, 422, 400]);
  });

  // FED-11, FED-23
  test('refuses an offer under the address of another install', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const id = `${studio.address}/federation/instance`;
    const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const instance = {
      '@context': PROTOCOL,
      type: 'aa:Instance',
      id,
      url: studio.address,
      name: 'Impostor',
      publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem },
      capabilities: [],
    };
    const own = { url: studio.address, name: 'Impostor', key: { privateKey, publicKey: Buffer.alloc(32) } };
    const published = new Date().toISOString();
    const offer = { '@context': PROTOCOL, type: 'aa:Offer', instance, nonce: randomUUID(), published };
    const url = `${harbour.address}/federation/peers/offer`;
    // FED-95
    expect(await postSigned(studio.deps, own, url, offer)).toEqual({ state: 'pending' });
    await verifyOffers(harbour);
    const [logged] = (await harbour.root.ok('listFederationRejections')).items;
    expect(logged).toMatchObject({
      reason: 'unknown_peer',
      detail: 'its address serves another key',
      instance_url: studio.address,
    });
  });
});

// FED-4
test('the document of a person is served to everyone once the person has taken part', async () => {
  const carol = await harbour.join('carol');
  const address = `${harbour.address}/users/${carol.username}`;
  const headers = { accept: 'application/json' };
  expect((await fetch(address, { headers })).status).toBe(404);
  const asked = await getJson(studio.deps, address, await identityOf(studio));
  expect(asked).toMatchObject({ preferredUsername: 'carol' });
  expect((await fetch(address, { headers })).status).toBe(200);
});

describe('changes', () => {
  // FED-12, FED-20, FED-21, FED-72
  test('wait for a peer that refuses them, arrive in order, and are given up after three days', async () => {
    const { root } = harbour;
    const disable = () => studio.root.ok('disablePeer', { params: { id: peerOfOther } });
    const accept = () => studio.root.ok('acceptPeer', { params: { id: peerOfOther } });
    await disable();
    const post = await sharePost(root, peerOfOne, 'First');
    await root.ok('updatePost', { params: { id: post.id }, body: { title: 'Second' } });
    await settle(harbour, studio);
    expect(await titlesOf(bob)).toEqual([]);
    const waiting = await peerAtHarbour();
    expect(waiting).toMatchObject({ queued_count: 3, failed_count: 0 });
    expect(waiting.last_error).toContain('peer_disabled');
    // LANGUAGE-8
    const inGerman = async (path: string) =>
      JSON.parse((await root.send(path, { headers: { 'accept-language': 'de' } })).text);
    const said = { last_error: 'antwortet mit 403 (peer_disabled)' };
    expect(await inGerman(`/admin/peers/${peerOfOne}`)).toMatchObject(said);
    expect((await inGerman(`/admin/peers/${peerOfOne}/queue`)).items).toContainEqual(
      expect.objectContaining(said),
    );
    await sql`update federation_peers set last_error = 'it answers with 500'`.execute(harbour.deps.db);
    expect((await inGerman('/admin/peers')).items).toMatchObject([{ last_error: 'it answers with 500' }]);

    await accept();
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titlesOf(bob)).toEqual(['Second']);
    const { items } = await root.ok('listPeerQueue', { params: { id: peerOfOne } });
    const sent = items.map(({ activity, status }) => `${activity} ${status}`);
    expect(sent).toEqual(['update sent', 'create sent', 'share sent']);

    await disable();
    await root.ok('updatePost', { params: { id: post.id }, body: { title: 'Third' } });
    await settle(harbour);
    expect(await rowsOf(harbour, keptEnvelopes)).toEqual([{ activity: 'update' }]);
    await skipPauses(harbour);
    await sql`update federation_outbox set created_at = created_at - interval '4 days'
      where status = 'queued'`.execute(harbour.database.db);
    await settle(harbour, studio);
    expect(await peerAtHarbour()).toMatchObject({ queued_count: 0, failed_count: 1 });
    expect(await rowsOf(harbour, keptEnvelopes)).toEqual([]);
    await accept();
    await root.ok('retryPeerQueue', { params: { id: peerOfOne } });
    await settle(harbour, studio);
    expect(await titlesOf(bob)).toEqual(['Third']);
    await root.ok('deletePostPeer', { params: { id: post.id, peer_id: peerOfOne } });
    await settle(harbour, studio);
  });

  // FED-33, FED-31
  test('shared with one person are for that person, and end on their day', async () => {
    const eve = await studio.join('eve');
    const expires_at = new Date(Date.now() + 3600_000).toISOString();
    const { id } = await sharePost(alice, peerOfOne, 'For Bob', { person: 'bob', expires_at });
    const params = { id, peer_id: peerOfOne };
    const unknown = await alice.refused('putPostPeer', { params, body: { person: 'nobody' } });
    expect(unknown.status).toBe(422);
    // NAME-1: another spelling is the same person, and the same share
    const again = await alice.ok('putPostPeer', { params, body: { person: 'BOB', expires_at } });
    expect(again.person).toBe(`${studio.address}/users/bob`);
    expect((await alice.ok('getPostPeer', { params })).shares).toHaveLength(1);
    await settle(harbour, studio);
    expect([await titlesOf(bob), await titlesOf(eve)]).toEqual([['For Bob'], []]);
    const { db } = studio.database;
    await sql`update federation_grants set expires_at = now() - interval '1 second'`.execute(db);
    await keepFederation(studio);
    expect(await titlesOf(bob)).toEqual([]);
  });

  // FED-33, FED-31
  test('shared with two people remain for one when the share of the other expires', async () => {
    const title = 'For two';
    const ana = await studio.join('ana');
    const { id } = await sharePost(alice, peerOfOne, title, { person: 'bob' });
    const params = { id, peer_id: peerOfOne };
    await alice.ok('putPostPeer', { params, body: { person: 'ana' } });
    await settle(harbour, studio);
    expect([await titlesOf(bob), await titlesOf(ana)]).toEqual([[title], [title]]);
    await sql`update federation_grants set expires_at = now() - interval '1 second'
      where target_user_ref = ${bob.ref}`.execute(studio.database.db);
    await keepFederation(studio);
    expect([await titlesOf(bob), await titlesOf(ana)]).toEqual([[], [title]]);
    await alice.ok('deletePostPeer', { params });
    await settle(harbour, studio);
  });

  // FED-31
  test('that are public are shown to visitors while the library accepts that', async () => {
    const title = 'For the public';
    const { id } = await sharePost(alice, peerOfOne, title);
    await alice.ok('updatePost', { params: { id }, body: { visibility: 'public' } });
    await settle(harbour, studio);
    await studio.setPublicMode(true);
    const accept = (accept_public: boolean) =>
      studio.root.ok('updatePeer', { params: { id: peerOfOther }, body: { accept_public } });
    const seen = [await titlesOf(studio.anonymous())];
    for (const accepted of [true, false]) {
      await accept(accepted);
      seen.push(await titlesOf(studio.anonymous()));
    }
    expect(seen).toEqual([[], [title], []]);
    expect(await titlesOf(bob)).toContain(title);
    await studio.setPublicMode(false);
    await alice.ok('deletePostPeer', { params: { id, peer_id: peerOfOne } });
    await settle(harbour, studio);
  });

  // FED-35
  test('never bring drafts, private posts, and mature or restricted content', async () => {
    const file = (name: string, fields: Record<string, string>) =>
      upload(alice, plainFile(name), { sensitivity: 'posts', ...fields });
    const plain = await file('plain', {});
    const mature = await file('mature', { mature: 'true' });
    const narrow = [mature, await file('restricted', { sensitivity: 'restricted' })];
    const target = ({ id }: { id: string }) => ({ params: { id, peer_id: peerOfOne }, body: {} });
    const refused = [
      alice.refused('putPostPeer', target(await publish(alice, [plain], { draft: true }))),
      alice.refused('putPostPeer', target(await publish(alice, [plain], { visibility: 'private' }))),
      ...narrow.map((asset) => alice.refused('putAssetPeer', target(asset))),
    ];
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    const title = 'Only one of three';
    await alice.ok('putPostPeer', target(await publish(alice, [plain, ...narrow], { title })));
    await settle(harbour, studio);
    expect((await postOf(bob, title)).members).toHaveLength(1);
  });
});

// FED-22
test('an envelope is accepted once, a replay changes nothing, and a changed one is refused', async () => {
  const { id } = await sharePost(alice, peerOfOne, 'Quay', { scope: 'comment' });
  await settle(harbour, studio);
  await bob.ok('likePost', { params: { id: (await postOf(bob, 'Quay')).id } });
  await settle(studio, harbour);
  const object = noteOf(studio, bob, `${harbour.address}/posts/${id}`);
  const envelope = await envelopeOf(studio, bob, { type: 'Create', object });
  expect(await send(studio, harbour, envelope)).toEqual({ status: 'accepted' });
  expect(await send(studio, harbour, envelope)).toEqual({ status: 'replayed' });
  const replayed = { results: [{ id: envelope.id, status: 'replayed' }] };
  expect(await send(studio, harbour, [envelope], 'inbox/batch')).toEqual(replayed);
  const { items } = await alice.ok('listComments', { params: { id } });
  expect(items.map(({ body }) => body)).toEqual([object.content]);
  const changed = { ...envelope, id: `${studio.address}/activities/${randomUUID()}` };
  expect(await reasonOf(send(studio, harbour, changed))).toBe('sig_invalid');
  expect((await rejectionsAt(harbour))[0]).toBe('sig_invalid');
});

// FED-90
test('the address of a person is a document without preference, and a page for browsers and unknown people', async () => {
  const dora = await harbour.join('dora');
  const answer = async (name: string, accept: string) => {
    const response = await fetch(`${harbour.address}/users/${name}`, { headers: { accept } });
    await response.arrayBuffer();
    return [response.status, response.headers.get('content-type')?.split(';')[0]];
  };
  const page = await answer('dora', 'text/html');
  const json = 'application/activity+json';
  expect(await answer('dora', '*/*')).toEqual(page);
  expect((await answer('dora', json))[0]).toBe(404);
  await readActorKeys(harbour.deps, dora.ref);
  for (const accept of ['*/*', json, 'application/json', 'application/ld+json', `${json}, text/html;q=0.1`])
    expect(await answer('dora', accept), accept).toEqual([200, 'application/json']);
  for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', 'image/*', `${json};q=0`])
    expect(await answer('dora', accept), accept).toEqual(page);
});

// FED-90
test('the inbox accepts an envelope of each media type of ActivityStreams', async () => {
  const post = await sharePost(alice, peerOfOne, 'Typed');
  await settle(harbour, studio);
  const uri = `${harbour.address}/posts/${post.id}`;
  for (const type of [
    'application/json',
    'application/activity+json; charset=utf-8',
    'application/ld+json',
  ]) {
    const envelope = await envelopeOf(studio, bob, { type: 'Like', object: uri });
    const body = Buffer.from(JSON.stringify(envelope));
    const url = new URL(`${harbour.address}/federation/inbox`);
    const { key } = await identityOf(studio);
    const keyId = `${studio.address}/federation/instance#main-key`;
    const signed = signHttp({
      method: 'POST',
      url,
      body,
      keyId,
      privateKey: key.privateKey,
      now: Date.now(),
    });
    const sent = new Headers({ ...signed, 'content-type': type });
    sent.delete('host');
    const response = await fetch(url, { method: 'POST', headers: sent, body });
    expect([response.status, await response.json()], type).toEqual([200, { status: 'accepted' }]);
  }
});

// FED-14, FED-72
test('unpairing purges what was received on both sides and keeps comments on own posts', async () => {
  const { id } = await sharePost(alice, peerOfOne, 'From the harbour', { scope: 'comment' });
  await sharePost(bob, peerOfOther, 'From the studio');
  await settle(harbour, studio);
  const mirror = await postOf(bob, 'From the harbour');
  await bob.ok('createComment', { params: { id: mirror.id }, body: { body: 'Stays' } });
  await settle(studio, harbour);
  expect(await titlesOf(harbour.root)).toContain('From the studio');
  await studio.root.ok('disablePeer', { params: { id: peerOfOther } });
  await alice.ok('updatePost', { params: { id }, body: { description: 'Too late' } });
  await settle(harbour);
  expect(await rowsOf(harbour, keptEnvelopes)).toHaveLength(1);

  await studio.root.ok('removePeer', { params: { id: peerOfOther } });
  expect(await titlesOf(studio.root)).toEqual(['From the studio']);
  await settle(studio, harbour);
  expect(await titlesOf(harbour.root)).not.toContain('From the studio');
  const { items } = await alice.ok('listComments', { params: { id } });
  expect(items).toMatchObject([{ body: 'Stays', remote_display_name: 'bob' }]);
  expect(await peerAtHarbour()).toMatchObject({ state: 'disabled', accepted_there: false });
  expect(await rowsOf(harbour, keptEnvelopes)).toEqual([]);
  // FED-81
  const { items: ended } = await harbour.root.ok('listAudit', { query: { event: 'federation.peer.ended' } });
  expect(ended).toMatchObject([{ metadata: { instance_url: studio.address } }]);
});

// FED-14, FED-80, FED-81
test('a new share brings earlier comments, and removing a peer ends every share before the pairing', async () => {
  const [quay, yard] = [await openInstall('Quay'), await openInstall('Yard')];
  const { peerOfOne: yardAtQuay, peerOfOther: quayAtYard } = await pair(quay, yard);
  const [carla, dan] = [await quay.join('carla'), await yard.join('dan')];
  const asset = await upload(carla, plainFile('early'), { sensitivity: 'posts' });
  const { id } = await publish(carla, [asset], { title: 'Discussed' });
  const root = await carla.ok('createComment', { params: { id }, body: { body: 'First' } });
  await carla.ok('createComment', { params: { id }, body: { body: 'Answer', parent_id: root.id } });
  await carla.ok('putPostPeer', { params: { id, peer_id: yardAtQuay }, body: {} });
  const other = await sharePost(carla, yardAtQuay, 'Another');
  await settle(quay, yard);
  const mirror = await postOf(dan, 'Discussed');
  const { items } = await dan.ok('listComments', { params: { id: mirror.id } });
  expect(items).toMatchObject([{ body: 'First', replies: [{ body: 'Answer' }] }]);

  await carla.ok('likePost', { params: { id: other.id } });
  await carla.ok('unlikePost', { params: { id: other.id } });
  await settle(quay, yard);
  await sharePost(carla, yardAtQuay, 'Never sent');
  await quay.root.ok('removePeer', { params: { id: yardAtQuay } });
  const told = sql<{ told: number }>`select json_array_length(payload -> 'unshares') as told
    from graphile_worker._private_jobs where payload -> 'unshares' is not null`;
  expect(await rowsOf(quay, told)).toEqual([{ told: 2 }]);
  await settle(quay, yard);
  expect(await titlesOf(dan)).toEqual([]);
  const withdrawn = sql`select event from audit_events where event = 'federation.share.withdrawn'`;
  expect(await rowsOf(yard, withdrawn)).toHaveLength(2);
  const events = sql<{ event: string; count: number }>`select event, count(*)::int as count from audit_events
    where event in ('federation.peer.created', 'federation.share.granted', 'federation.share.revoked',
      'federation.emission.skipped') group by event order by event`;
  expect(await rowsOf(quay, events)).toEqual([
    { event: 'federation.emission.skipped', count: 1 },
    { event: 'federation.peer.created', count: 1 },
    { event: 'federation.share.granted', count: 3 },
    { event: 'federation.share.revoked', count: 3 },
  ]);
  const created = await rowsOf(yard, sql`select from audit_events where event = 'federation.peer.created'`);
  expect(created).toHaveLength(1);
  expect(await yard.root.ok('getPeer', { params: { id: quayAtYard } })).toMatchObject({ state: 'disabled' });
});

// FED-11, FED-14
test('libraries pair again after one ended the pairing, whichever of them offers', async () => {
  const [mole, pier] = [await openInstall('Mole'), await openInstall('Pier')];
  const { peerOfOne: pierAtMole, peerOfOther } = await pair(mole, pier);
  const peersAt = async ({ root }: typeof mole) => (await root.ok('listPeers')).items;
  const connected = [{ state: 'connected', accepted_here: true, accepted_there: true, last_error: null }];
  const acceptAtMole = () => mole.root.ok('acceptPeer', { params: { id: pierAtMole } });

  await pier.root.ok('removePeer', { params: { id: peerOfOther } });
  await settle(pier, mole);
  const { id: moleAtPier } = await pier.root.ok('addPeer', { body: { address: mole.address } });
  expect(await pier.root.ok('acceptPeer', { params: { id: moleAtPier } })).toMatchObject({
    state: 'pending_outbound',
  });
  expect(await peersAt(mole)).toMatchObject([{ state: 'pending_inbound', accepted_here: false }]);
  await acceptAtMole();
  expect([await peersAt(mole), await peersAt(pier)]).toMatchObject([connected, connected]);

  await pier.root.ok('removePeer', { params: { id: moleAtPier } });
  await settle(pier, mole);
  expect(await acceptAtMole()).toMatchObject({ state: 'pending_outbound' });
  await verifyOffers(pier);
  const [offered] = await peersAt(pier);
  expect(offered).toMatchObject({ state: 'pending_inbound' });
  await pier.root.ok('acceptPeer', { params: { id: offered?.id ?? '' } });
  expect([await peersAt(mole), await peersAt(pier)]).toMatchObject([connected, connected]);
});
