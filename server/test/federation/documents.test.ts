import { expect, test } from 'vitest';
import { signHttp } from '../../src/exchange/federation/protocol/http-signature.ts';
import { collect } from '../collections/shelves.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import { type Install, identityOf, openInstall, openPair, pair, settle } from './installs.ts';

const { harbour, studio, peerOfOne } = await openPair();
const stranger = await openInstall('Stranger');
await pair(harbour, stranger);
const alice = await harbour.join('alice');
await studio.join('bob');

const activity = 'application/activity+json';

/** Reads an address, signed by this install if one is given. */
async function read(address: string, signer: Install | null, accept = activity) {
  const signed =
    signer === null
      ? {}
      : signHttp({
          method: 'GET',
          url: new URL(address),
          body: null,
          keyId: `${signer.address}/federation/instance#main-key`,
          privateKey: (await identityOf(signer)).key.privateKey,
          now: Date.now(),
        });
  const headers = new Headers({ ...signed, accept });
  headers.delete('host');
  const response = await fetch(address, { headers, redirect: 'manual' });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, isJson, body: isJson ? JSON.parse(text) : null };
}

/** Returns every address of an object of the harbour that is an id in a document. */
function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'id' in value && typeof value.id === 'string' ? [value.id] : [];
  return [...own, ...Object.values(value).flatMap(idsIn)];
}

const team = await addTeam(harbour, 'Lighting');
const picture = await upload(harbour.root, await jpeg(64, 48), { team_id: team, sensitivity: 'posts' });
const post = await publish(harbour.root, [picture], { title: 'Lamp', team_id: team });
const collection = await collect(harbour.root, 'Shelf', [post]);
const kept = await publish(alice, [await upload(alice, plainFile())], {
  title: 'Private',
  visibility: 'private',
});
const addresses = {
  post: `${harbour.address}/posts/${post.id}`,
  asset: `${harbour.address}/assets/${picture.id}`,
  collection: `${harbour.address}/collections/${collection.id}`,
  team: `${harbour.address}/workspaces/${team}`,
};

// FED-98
test('every id that a peer was sent leads it to the object, and nobody else', async () => {
  const params = { id: collection.id, peer_id: peerOfOne };
  for (const address of Object.values(addresses)) expect((await read(address, studio)).status).toBe(404);
  await harbour.root.ok('putCollectionPeer', { params, body: {} });
  // Not before it was sent.
  expect((await read(addresses.post, studio)).status).toBe(404);
  await settle(harbour, studio);

  for (const [kind, address] of Object.entries(addresses)) {
    const found = await read(address, studio);
    expect([kind, found.status, found.body?.id]).toEqual([kind, 200, address]);
    for (const id of idsIn(found.body)) expect([id, (await read(id, studio)).status]).toEqual([id, 200]);
    expect((await read(found.body.attributedTo ?? address, studio)).status).toBe(200);
    expect((await read(address, studio, '*/*')).body?.id).toBe(address);
    for (const other of [null, stranger])
      expect([kind, await read(address, other)]).toMatchObject([kind, { status: 404 }]);
    expect(await read(address, null, '*/*')).toMatchObject({ isJson: false });
    expect(await read(address, studio, 'text/html')).toMatchObject({ isJson: false });
  }
  const { body } = await read(addresses.collection, studio);
  expect(body).toMatchObject({ type: 'aa:Collection', items: [addresses.post] });
  expect((await read(`${harbour.address}/posts/${kept.id}`, studio)).status).toBe(404);
  expect((await read(`${harbour.address}/posts/none`, studio)).status).toBe(404);

  await harbour.root.ok('deleteCollectionPeer', { params });
  for (const address of Object.values(addresses)) expect((await read(address, studio)).status).toBe(404);
});

// FED-98, FED-35
test('members that are sent encrypted only are not in the document, and have none', async () => {
  await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
  const plan = await upload(alice, plainFile('plan'), { title: 'Plan', sensitivity: 'restricted' });
  const quay = await upload(alice, plainFile('quay'), { title: 'Quay', sensitivity: 'posts' });
  const mixed = await publish(alice, [plan, quay], { title: 'Mixed' });
  const body = { person: 'bob', confirm_sensitive: true };
  await alice.ok('putPostPeer', { params: { id: mixed.id, peer_id: peerOfOne }, body });
  await settle(harbour, studio);
  const found = await read(`${harbour.address}/posts/${mixed.id}`, studio);
  expect(found.body.members).toMatchObject([{ name: 'Quay' }]);
  expect(JSON.stringify(found.body)).not.toContain('Plan');
  expect((await read(`${harbour.address}/assets/${quay.id}`, studio)).status).toBe(200);
  expect((await read(`${harbour.address}/assets/${plan.id}`, studio)).status).toBe(404);
});
