import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { readInstall } from '../../src/federation/identity.ts';
import { getBytes, getJson, OutboundError, postSigned } from '../../src/federation/outbound.ts';
import { unseal } from '../../src/identity/seal.ts';
import { writeSetting } from '../../src/settings.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

const PROTOCOL = 'https://artist-alley.org/protocol/v1';

/** RFC 8785 for the values of these envelopes, written from the document: sorted keys, no whitespace. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`;
}

let harbour: Install;
let studio: Install;
let alice: Account;
let bob: Account;

beforeAll(async () => {
  harbour = await openInstall('Harbour');
  studio = await openInstall('Studio');
  await pair(harbour, studio);
  alice = await harbour.join('alice');
  bob = await studio.join('bob');
});

/** Returns the peer that represents one install at the other. */
async function peerAt(install: Install): Promise<string> {
  const [peer] = (await install.root.ok('listPeers')).items;
  if (peer === undefined) throw new Error('there is no peer');
  return peer.id;
}

/** Sends JSON to the harbour, signed by the studio. */
async function sendFromStudio(path: string, body: object): Promise<unknown> {
  const install = await readInstall(studio.deps);
  if (install === null) throw new Error('the studio has no address');
  return postSigned(studio.deps, install, `${harbour.address}${path}`, body);
}

async function refusalOf(
  sending: Promise<unknown>,
): Promise<{ status: number | null; reason: string | null }> {
  const error = await sending.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OutboundError)) throw new Error('it was not refused', { cause: error });
  return { status: error.status, reason: error.reason };
}

/** Returns an envelope of bob, signed with his key by independent code. */
async function envelopeOfBob(body: object): Promise<Record<string, unknown>> {
  const actor = `${studio.address}/users/bob`;
  const { rows } = await sql<{
    signing_sealed: Buffer;
  }>`select signing_sealed from federation_keys where user_ref = ${bob.ref}`.execute(studio.database.db);
  const key = createPrivateKey(
    unseal(studio.deps.secretKey, 'federation actor key', rows[0]?.signing_sealed ?? Buffer.alloc(0)),
  );
  const envelope = {
    '@context': PROTOCOL,
    id: `${studio.address}/activities/${randomUUID()}`,
    actor,
    published: new Date().toISOString(),
    ...body,
  };
  const value = sign(null, Buffer.from(canonical(envelope)), key).toString('base64url');
  return { ...envelope, signature: { type: 'Ed25519', publicKey: `${actor}#main-key`, value } };
}

/** A post of alice's that is shared with the studio. */
async function sharedPost(scope: 'view' | 'comment' = 'view') {
  const asset = await upload(alice, await jpeg(64, 48), { sensitivity: 'posts' });
  const post = await publish(alice, [asset], { title: 'Quay' });
  await alice.ok('putPostPeer', { params: { id: post.id, peer_id: await peerAt(harbour) }, body: { scope } });
  return { post, asset };
}

// FED-2
test('a library without a public address serves no federation endpoints and cannot pair', async () => {
  const library = await openInstall('Unaddressed');
  const { db } = library.database;
  const addresses = {
    none: 'set the public address of this library first',
    'https://harbour.example/media': 'peers need a public address with https and without a path',
    'http://harbour.example': 'peers need a public address with https and without a path',
  };
  for (const [address, reason] of Object.entries(addresses)) {
    await writeSetting(db, 'base_url', address === 'none' ? null : address);
    expect((await fetch(`${library.address}/federation/instance`)).status).toBe(404);
    expect(await library.root.ok('getFederation')).toMatchObject({ instance_url: null });
    const refused = await library.root.refused('addPeer', { body: { address: harbour.address } });
    expect(refused).toMatchObject({ status: 409, error: expect.stringContaining(reason) });
  }
  await writeSetting(db, 'base_url', 'HTTPS://Harbour.Example:443/');
  expect(await library.root.ok('getFederation')).toMatchObject({ instance_url: 'https://harbour.example' });
});

describe('pairing', () => {
  // FED-10
  test('refuses its own address, a known one and one without an install', async () => {
    const add = (address: string) => harbour.root.refused('addPeer', { body: { address } });
    expect(await add(harbour.address)).toMatchObject({ status: 409 });
    expect(await add(studio.address)).toMatchObject({ status: 409 });
    expect(await add('http://127.0.0.1:9')).toMatchObject({ status: 422 });
    expect(await add('not an address')).toMatchObject({ status: 400 });
  });

  // FED-11, FED-23
  test('refuses an offer under the address of another install', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const id = `${studio.address}/federation/instance`;
    const instance = {
      '@context': PROTOCOL,
      type: 'aa:Instance',
      id,
      url: studio.address,
      name: 'Impostor',
      publicKey: {
        id: `${id}#main-key`,
        owner: id,
        publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      },
      capabilities: [],
    };
    const own = { url: studio.address, name: 'Impostor', key: { privateKey, publicKey: Buffer.alloc(32) } };
    const offer = {
      '@context': PROTOCOL,
      type: 'aa:Offer',
      instance,
      nonce: randomUUID(),
      published: new Date().toISOString(),
    };
    const sent = postSigned(studio.deps, own, `${harbour.address}/federation/peers/offer`, offer);
    expect(await refusalOf(sent)).toMatchObject({ reason: 'unknown_key' });
    const [logged] = (await harbour.root.ok('listFederationRejections')).items;
    expect(logged).toMatchObject({ reason: 'unknown_key', instance_url: studio.address });
  });
});

describe('a request of a peer', () => {
  // FED-3
  test('is refused unsigned, and when it is signed by an install that is not a peer', async () => {
    const unsigned = await fetch(`${harbour.address}/federation/inbox`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(unsigned.status).toBe(401);
    expect(await unsigned.json()).toMatchObject({ error: 'unsigned' });
    const stranger = await openInstall('Stranger');
    const own = await readInstall(stranger.deps);
    if (own === null) throw new Error('the stranger has no address');
    const sent = postSigned(stranger.deps, own, `${harbour.address}/federation/inbox`, {});
    expect(await refusalOf(sent)).toMatchObject({ status: 403, reason: 'unknown_peer' });
  });

  // FED-1, FED-40
  test('gets bytes only while a share covers them', async () => {
    const install = await readInstall(studio.deps);
    if (install === null) throw new Error('the studio has no address');
    const asset = await upload(alice, await jpeg(70, 50), { sensitivity: 'posts' });
    const address = `${harbour.address}/assets/${asset.file_hash}/bytes`;
    const get = () => getBytes(studio.deps, install, address);
    expect(await refusalOf(get())).toMatchObject({ status: 403, reason: 'unshared_object' });
    const post = await publish(alice, [asset]);
    const params = { id: post.id, peer_id: await peerAt(harbour) };
    await alice.ok('putPostPeer', { params, body: {} });
    (await get()).destroy();
    await alice.ok('deletePostPeer', { params });
    expect(await refusalOf(get())).toMatchObject({ status: 403, reason: 'unshared_object' });
    await alice.ok('putPostPeer', { params, body: {} });
    await alice.ok('unpublishPost', { params: { id: post.id } });
    expect(await refusalOf(get())).toMatchObject({ status: 403, reason: 'unshared_object' });
  });

  // FED-4
  test('finds the document of a person who has not taken part; others do not', async () => {
    const carol = await harbour.join('carol');
    const address = `${harbour.address}/users/${carol.username}`;
    const unsigned = await fetch(address, { headers: { accept: 'application/json' } });
    expect(unsigned.status).toBe(404);
    const install = await readInstall(studio.deps);
    if (install === null) throw new Error('the studio has no address');
    expect(await getJson(studio.deps, address, install)).toMatchObject({ preferredUsername: 'carol' });
    expect((await fetch(address, { headers: { accept: 'application/json' } })).status).toBe(200);
  });
});

describe('an envelope', () => {
  // FED-22
  test('that independent code wrote is accepted once; a replay changes nothing', async () => {
    const { post } = await sharedPost('comment');
    await settle(harbour, studio);
    const [mirrored] = (await bob.ok('listPosts', { query: { limit: 1 } })).items;
    await bob.ok('likePost', { params: { id: mirrored?.id ?? '' } });
    await settle(studio, harbour);
    const now = new Date().toISOString();
    const note = {
      type: 'Note',
      id: `${studio.address}/posts/${randomUUID()}#comment-${randomUUID()}`,
      attributedTo: `${studio.address}/users/bob`,
      attributedToName: 'Bob',
      content: 'Written by other code',
      inReplyTo: `${harbour.address}/posts/${post.id}`,
      published: now,
      updated: now,
    };
    const envelope = await envelopeOfBob({ type: 'Create', object: note });
    expect(await sendFromStudio('/federation/inbox', envelope)).toEqual({ status: 'accepted' });
    expect(await sendFromStudio('/federation/inbox', envelope)).toEqual({ status: 'replayed' });
    const { results } = (await sendFromStudio('/federation/inbox/batch', [envelope])) as { results: unknown };
    expect(results).toEqual([{ id: envelope.id, status: 'replayed' }]);
    const { items } = await alice.ok('listComments', { params: { id: post.id } });
    expect(items.map(({ body }) => body)).toEqual(['Written by other code']);
    const tampered = { ...envelope, id: `${studio.address}/activities/${randomUUID()}` };
    expect(await refusalOf(sendFromStudio('/federation/inbox', tampered))).toMatchObject({
      reason: 'sig_invalid',
    });
  });

  // FED-1, FED-32
  test('is refused for a post that is not shared, that does not exist, and that may only be viewed', async () => {
    const { post: viewed } = await sharedPost('view');
    const hidden = await publish(alice, [await upload(alice, await jpeg(64, 48))]);
    const like = async (id: string) =>
      refusalOf(
        sendFromStudio(
          '/federation/inbox',
          await envelopeOfBob({ type: 'Like', object: `${harbour.address}/posts/${id}` }),
        ),
      );
    expect(await like(hidden.id)).toMatchObject({ reason: 'unshared_object' });
    expect(await like(randomUUID())).toMatchObject({ reason: 'unknown_object' });
    const now = new Date().toISOString();
    const comment = await envelopeOfBob({
      type: 'Create',
      object: {
        type: 'Note',
        id: `${studio.address}/posts/${randomUUID()}#comment-${randomUUID()}`,
        attributedTo: `${studio.address}/users/bob`,
        attributedToName: 'Bob',
        content: 'May I?',
        inReplyTo: `${harbour.address}/posts/${viewed.id}`,
        published: now,
        updated: now,
      },
    });
    expect(await refusalOf(sendFromStudio('/federation/inbox', comment))).toMatchObject({
      reason: 'unshared_object',
    });
  });
});

// FED-35
test('drafts, private posts and mature or restricted content are never sent', async () => {
  const peer_id = await peerAt(harbour);
  const plain = await upload(alice, await jpeg(64, 48), { sensitivity: 'posts' });
  const mature = await upload(alice, await jpeg(65, 48), { sensitivity: 'posts', mature: 'true' });
  const restricted = await upload(alice, await jpeg(66, 48), { sensitivity: 'restricted' });
  for (const body of [{ draft: true }, { visibility: 'private' as const }]) {
    const post = await publish(alice, [plain], body);
    expect(await alice.refused('putPostPeer', { params: { id: post.id, peer_id }, body: {} })).toMatchObject({
      status: 409,
    });
  }
  for (const { id } of [mature, restricted]) {
    expect(await alice.refused('putAssetPeer', { params: { id, peer_id }, body: {} })).toMatchObject({
      status: 409,
    });
  }
  const post = await publish(alice, [plain, mature, restricted], { title: 'Only one of three' });
  await alice.ok('putPostPeer', { params: { id: post.id, peer_id }, body: {} });
  await settle(harbour, studio);
  const mirrored = (await bob.ok('listPosts')).items.find(({ title }) => title === 'Only one of three');
  expect(mirrored?.members).toHaveLength(1);
});
