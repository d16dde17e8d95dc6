import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { decryptersNamed } from '../../src/federation/box-keys.ts';
import type { OutboxRow } from '../../src/federation/delivery.ts';
import { readActorKeys } from '../../src/federation/keys.ts';
import { setRecipients } from '../../src/federation/mirror/recipients.ts';
import { getBytes, getJson, postSigned } from '../../src/federation/outbound.ts';
import { decryptFor, encryptFor } from '../../src/federation/protocol/box.ts';
import type { Encrypted } from '../../src/federation/protocol/envelope.ts';
import { rawPublicKey, signEnvelope } from '../../src/federation/protocol/signature.ts';
import { renderChange } from '../../src/federation/render.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, identityOf, openInstall, pair, reasonOf, settle } from './installs.ts';

let harbour: Install;
let studio: Install;
let alice: Account;
let bob: Account;
let eve: Account;
let peers: { peerOfOne: string; peerOfOther: string };

beforeAll(async () => {
  harbour = await openInstall('Harbour');
  studio = await openInstall('Studio');
  peers = await pair(harbour, studio);
  alice = await harbour.join('alice');
  [bob, eve] = [await studio.join('bob'), await studio.join('eve')];
});

const allow = (sensitive_content: 'never' | 'encrypted') =>
  harbour.root.ok('updateFederation', { body: { sensitive_content } });

const picture = async (seed: number, fields: Record<string, string>) =>
  upload(alice, await jpeg(320, 240, { seed }), fields, `${fields.title ?? 'picture'}.jpg`);

/** The post of this title that an account at the studio sees. */
async function mirrored(reader: Account, title: string) {
  return (await reader.ok('listPosts')).items.find((post) => post.title === title);
}

/** The titles of the members that an account is given, without placeholders. */
async function membersOf(reader: Account, title: string): Promise<string[]> {
  const post = await mirrored(reader, title);
  return (post?.members ?? []).flatMap((member) => (member.restricted === false ? [member.asset.title] : []));
}

async function eventsOf(install: Install, event: string) {
  return (await install.root.ok('listAudit', { query: { event, limit: 100 } })).items;
}

/** Returns the envelope of the pending delivery at the harbour with this activity. */
async function written(activity: OutboxRow['activity'], kind: OutboxRow['kind'], id: string) {
  const { rows } = await sql<OutboxRow>`select * from federation_outbox
    where activity = ${activity} and kind = ${kind} and object_id = ${id} order by seq desc limit 1`.execute(
    harbour.database.db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('nothing waits');
  const { envelope: text } = await renderChange(harbour.deps, await identityOf(harbour), row);
  if (text === null) throw new Error('nothing to send');
  return text;
}

// FED-50
describe('restricted and mature content', () => {
  test('is refused while the library never sends it, even if it is confirmed', async () => {
    const asset = await picture(1, { title: 'Plan', sensitivity: 'restricted' });
    const post = await publish(alice, [asset], { title: 'Only a plan' });
    const body = { person: 'bob', confirm_sensitive: true };
    for (const refused of [
      alice.refused('putAssetPeer', { params: { id: asset.id, peer_id: peers.peerOfOne }, body }),
      alice.refused('putPostPeer', { params: { id: post.id, peer_id: peers.peerOfOne }, body }),
    ]) {
      expect(await refused).toMatchObject({
        status: 409,
        error: 'restricted and mature content stays in this library: “Plan” (restricted)',
      });
    }
    expect(await eventsOf(harbour, 'federation.sensitive.refused')).toHaveLength(2);
  });

  test('needs a second confirmation that names it, and one person who can decrypt it', async () => {
    await allow('encrypted');
    const plain = await picture(2, { title: 'Quay', sensitivity: 'posts' });
    const restricted = await picture(3, { title: 'Plan', sensitivity: 'restricted' });
    const mature = await picture(4, { title: 'Nude', sensitivity: 'posts', mature: 'true' });
    const post = await publish(alice, [plain, restricted, mature], { title: 'Three pictures' });
    const params = { id: post.id, peer_id: peers.peerOfOne };
    const share = (body: object) => alice.refused('putPostPeer', { params, body });
    const named = '“Plan” (restricted), “Nude” (mature)';
    expect(await share({ person: 'bob' })).toMatchObject({
      status: 409,
      error: `sharing restricted and mature content needs a second confirmation (confirm_sensitive): ${named}`,
    });
    expect((await share({ confirm_sensitive: true })).error).toContain('to one person');
    expect(await alice.ok('listPostPeers', { params: { id: post.id } })).toMatchObject({
      items: [],
      sensitive_content: 'encrypted',
      sensitive: [
        { asset_id: restricted.id, title: 'Plan', restricted: true, mature: false },
        { asset_id: mature.id, title: 'Nude', restricted: false, mature: true },
      ],
    });

    const shared = await alice.ok('putPostPeer', {
      params,
      body: { person: 'bob', scope: 'comment', confirm_sensitive: true },
    });
    expect(shared).toMatchObject({ encrypted: true });
    const [confirmed] = await eventsOf(harbour, 'federation.sensitive.confirmed');
    expect(confirmed?.metadata).toMatchObject({ assets: [restricted.id, mature.id] });
  });

  test('is left out when the confirmation is declined', async () => {
    const plain = await picture(5, { title: 'Quay', sensitivity: 'posts' });
    const restricted = await picture(6, { title: 'Plan', sensitivity: 'restricted' });
    const post = await publish(alice, [plain, restricted], { title: 'One of two' });
    const params = { id: post.id, peer_id: peers.peerOfOne };
    await alice.ok('putPostPeer', { params, body: { person: 'bob', confirm_sensitive: false } });
    await settle(harbour, studio);
    expect(await membersOf(bob, 'One of two')).toEqual(['Quay']);
  });

  // FED-51
  test('is refused until the peer announces that it supports encryption', async () => {
    const asset = await picture(7, { title: 'Plan', sensitivity: 'restricted' });
    const { db } = harbour.database;
    await sql`update federation_peers set capabilities = '{batched-inbox-v1}'`.execute(db);
    const params = { id: asset.id, peer_id: peers.peerOfOne };
    const body = { person: 'bob', confirm_sensitive: true };
    // Asks the studio again, which now announces that it decrypts.
    await alice.ok('putAssetPeer', { params, body });
    await alice.ok('deleteAssetPeer', { params });
    // Ignores any key other than the pinned one.
    await sql`update federation_peers set capabilities = '{}', public_key = decode(repeat('00', 32), 'hex')`.execute(
      db,
    );
    expect(await alice.refused('putAssetPeer', { params, body })).toMatchObject({
      status: 409,
      error: 'Studio cannot decrypt restricted and mature content',
    });
    const { key } = await identityOf(studio);
    await sql`update federation_peers set public_key = ${key.publicKey}`.execute(db);
    await alice.ok('putAssetPeer', { params, body });
    await alice.ok('deleteAssetPeer', { params });
    await settle(harbour, studio);
  });
});

/** Shares a post with bob that has a plain and a restricted member. */
async function sharedWithBob(
  title: string,
  seed: number,
): Promise<{ id: string; members: { id: string; file_hash: string | null }[] }> {
  const plain = await picture(seed, { title: 'Quay', sensitivity: 'posts' });
  const secret = await picture(seed + 1, { title: 'Unseen treasure', sensitivity: 'restricted' });
  await harbour.runJobs();
  const { id } = await publish(alice, [plain, secret], { title });
  await alice.ok('putPostPeer', {
    params: { id, peer_id: peers.peerOfOne },
    body: { person: 'bob', scope: 'comment', confirm_sensitive: true },
  });
  return { id, members: [plain, secret] };
}

describe('content that is encrypted for a person', () => {
  const title = 'Treasure map';
  let shared: Awaited<ReturnType<typeof sharedWithBob>>;
  let envelope: Record<string, unknown> & { encrypted: Encrypted };

  beforeAll(async () => {
    shared = await sharedWithBob(title, 10);
    envelope = JSON.parse(await written('create', 'post', shared.id));
  });

  /** Sends the studio an envelope of the harbour, signed again by alice when `change` is given. */
  async function send(change: object | null) {
    const own = await identityOf(harbour);
    const { signature: _, ...unsigned } = { ...envelope, ...change };
    const keys = await readActorKeys(harbour.deps, alice.ref);
    if (keys === null) throw new Error('alice has no keys');
    const signed =
      change === null
        ? envelope
        : signEnvelope(unsigned, `${harbour.address}/users/alice#main-key`, keys.signingPrivate);
    return postSigned(harbour.deps, own, `${studio.address}/federation/inbox`, signed);
  }

  // FED-53
  test('is encrypted with a key of the person, whose private part is stored sealed', async () => {
    const document = await getJson(harbour.deps, `${studio.address}/users/bob`, await identityOf(harbour));
    const { rows } = await sql<{ public_key: Buffer; sealed: Buffer }>`select public_key, sealed
      from federation_box_keys where user_ref = ${bob.ref}`.execute(studio.database.db);
    const [key] = rows;
    expect(document).toMatchObject({
      publicKeys: [
        {
          id: `${studio.address}/users/bob#box-1`,
          algorithm: 'x25519',
          version: 1,
          publicKey: key?.public_key.toString('base64url'),
        },
      ],
    });
    expect(key?.sealed.includes('PRIVATE KEY')).toBe(false);
    const [account] = (await decryptersNamed(studio.deps, ['bob'])).values();
    expect(account?.keys.map((one) => rawPublicKey(one).equals(key?.public_key ?? Buffer.alloc(0)))).toEqual([
      true,
    ]);
  });

  // FED-52
  test('cannot be read on the way', () => {
    const text = JSON.stringify(envelope);
    for (const secret of [
      title,
      'Unseen treasure',
      'Quay',
      ...shared.members.map(({ file_hash }) => String(file_hash)),
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(envelope).toMatchObject({
      type: 'Create',
      to: [`${studio.address}/users/bob`],
      encrypted: { alg: 'nacl-box', recipients: [{ actor: `${studio.address}/users/bob` }] },
    });
  });

  // FED-52
  test('is rejected if it was changed or no recipient here can decrypt it', async () => {
    const { encrypted } = envelope;
    const [box] = encrypted.recipients;
    if (box === undefined) throw new Error('there is no recipient');
    const last = box.ciphertext.at(-2) === 'A' ? 'B' : 'A';
    const changed = { ...box, ciphertext: box.ciphertext.slice(0, -2) + last + box.ciphertext.slice(-1) };
    const id = () => `${harbour.address}/activities/${randomUUID()}`;
    const boxes = (...recipients: object[]) => ({ id: id(), encrypted: { ...encrypted, recipients } });
    const own = await identityOf(harbour);
    const inbox = `${studio.address}/federation/inbox`;
    const unsigned = { ...envelope, encrypted: { ...encrypted, recipients: [changed] } };
    expect(await reasonOf(postSigned(harbour.deps, own, inbox, unsigned))).toBe('sig_invalid');
    expect(await reasonOf(send(boxes(changed)))).toBe('decrypt_failed');
    // Eve has a key, but it does not open what was encrypted for bob.
    await getJson(harbour.deps, `${studio.address}/users/eve`, own);
    expect(await reasonOf(send(boxes({ ...box, actor: `${studio.address}/users/eve` })))).toBe(
      'decrypt_failed',
    );
    const nobody = await reasonOf(send(boxes({ ...box, actor: `${studio.address}/users/nobody` })));
    expect(nobody).toBe('encryption_not_supported');
    expect(await reasonOf(send({ id: id(), type: 'Like' }))).toBe('plaintext_type_mismatch');
    const { rows } = await sql`select from federation_inbox where type = 'Create'
      and activity_uri = ${String(envelope.id)}`.execute(studio.database.db);
    expect(rows).toEqual([]);
    const reasons = (await studio.root.ok('listFederationRejections')).items.map(({ reason }) => reason);
    expect(reasons.slice(0, 4)).toEqual([
      'plaintext_type_mismatch',
      'encryption_not_supported',
      'decrypt_failed',
      'decrypt_failed',
    ]);
  });

  // FED-52
  test('cannot be passed on by another peer as its own', async () => {
    const third = await openInstall('Third');
    await pair(third, studio);
    const mallory = await third.join('mallory');
    const keys = await readActorKeys(third.deps, mallory.ref);
    if (keys === null) throw new Error('mallory has no keys');
    const actor = `${third.address}/users/mallory`;
    const wrapped = signEnvelope(
      {
        '@context': envelope['@context'],
        type: 'Create',
        id: `${third.address}/activities/${randomUUID()}`,
        actor,
        published: new Date().toISOString(),
        encrypted: envelope.encrypted,
      },
      `${actor}#main-key`,
      keys.signingPrivate,
    );
    const sending = postSigned(
      third.deps,
      await identityOf(third),
      `${studio.address}/federation/inbox`,
      wrapped,
    );
    expect(await reasonOf(sending)).toBe('unknown_actor');
    expect(await mirrored(bob, title)).toBeUndefined();
  });

  // FED-52
  test('must be encrypted: restricted content in a plain envelope is refused', async () => {
    await settle(harbour, studio);
    const plain = JSON.parse(await written('create', 'post', (await plainPost()).id));
    const [member] = plain.object.members;
    const exposed = { ...plain.object, members: [{ ...member, sensitivity: 'restricted' }] };
    const id = `${harbour.address}/activities/${randomUUID()}`;
    const keys = await readActorKeys(harbour.deps, alice.ref);
    if (keys === null) throw new Error('alice has no keys');
    const { signature: _, ...unsigned } = { ...plain, id, object: exposed };
    const signed = signEnvelope(unsigned, `${harbour.address}/users/alice#main-key`, keys.signingPrivate);
    const sending = postSigned(
      harbour.deps,
      await identityOf(harbour),
      `${studio.address}/federation/inbox`,
      signed,
    );
    expect(await reasonOf(sending)).toBe('encryption_required');
  });

  // FED-55
  test('is restricted at the receiver to the person it was encrypted for', async () => {
    await alice.ok('putPostPeer', {
      params: { id: shared.id, peer_id: peers.peerOfOne },
      body: { confirm_sensitive: false },
    });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay', 'Unseen treasure']);
    expect(await membersOf(eve, title)).toEqual(['Quay']);
    const at = `/assets/${(await mirrored(bob, title))?.members[1]?.asset_id}`;
    const original = await jpeg(320, 240, { seed: 11 });
    const fetched = await bob.send(`${at}/file`);
    expect([fetched.status, fetched.headers.get('content-length')]).toEqual([200, String(original.length)]);
    expect((await bob.send(`${at}/variants/col`)).status).toBe(200);
    expect((await eve.send(`${at}/file`)).status).toBe(404);
    expect((await eve.send(`${at}/variants/col`)).status).toBe(404);
    expect(await send(null)).toEqual({ status: 'replayed' });
  });

  // FED-55
  test('is given only to recipients with whom it is shared by name', async () => {
    const [account] = (await decryptersNamed(studio.deps, ['bob'])).values();
    const person = `${studio.address}/users/bob`;
    const content = decryptFor(person, account?.keys ?? [], envelope.encrypted);
    const { rows } = await sql<{ username: string; key: Buffer }>`select u.username, k.public_key as key
      from federation_box_keys k join users u on u.ref = k.user_ref`.execute(studio.database.db);
    expect(rows.map(({ username }) => username).toSorted()).toEqual(['bob', 'eve']);
    const recipients = rows.map(({ username, key }) => ({
      actor: `${studio.address}/users/${username}`,
      key,
    }));
    const encrypted = encryptFor(recipients, Object(content));
    const id = `${harbour.address}/activities/${randomUUID()}`;
    expect(await send({ id, type: 'Create', encrypted })).toEqual({ status: 'accepted' });
    expect(await membersOf(bob, title)).toEqual(['Quay', 'Unseen treasure']);
    expect(await membersOf(eve, title)).toEqual(['Quay']);
    // At any time, not only after the sweep of ungranted objects.
    const { db } = studio.database;
    const { rows: given } = await sql<{ asset_id: string; uri: string; peer: string }>`
      select r.asset_id, r.uri, a.origin_peer_id as peer from federated_recipients r
        join assets a on a.id = r.asset_id where a.title = 'Unseen treasure'`.execute(db);
    const { asset_id, uri, peer } = given[0] ?? { asset_id: '', uri: '', peer: '' };
    await db.transaction().execute((tx) => setRecipients(tx, peer, asset_id, uri, [bob.ref, eve.ref]));
    const { rows: shares } = await sql<{ user_ref: number }>`select user_ref from asset_shares
      where asset_id = ${asset_id}`.execute(db);
    expect(shares.map(({ user_ref }) => user_ref)).toEqual([bob.ref]);
  });

  // FED-54
  test('has files that are served encrypted only, and to that peer alone', async () => {
    const own = await identityOf(studio);
    const address = `${harbour.address}/assets/${shared.members[1]?.file_hash}/bytes`;
    expect(await reasonOf(getBytes(studio.deps, own, address))).toBe('unshared_object');
    const original = await jpeg(320, 240, { seed: 11 });
    const read = async () =>
      Buffer.concat(await (await getBytes(studio.deps, own, `${address}?encrypted=1`)).toArray());
    const [sent, again] = [await read(), await read()];
    expect(sent.length).toBe(original.length + 32);
    expect(sent.includes(Buffer.from(original).subarray(100, 140))).toBe(false);
    expect(sent.equals(again)).toBe(false);
  });

  // FED-52
  test('is commented on in encrypted form from both sides', async () => {
    const id = (await mirrored(bob, title))?.id ?? '';
    await bob.ok('createComment', { params: { id }, body: { body: 'Where is it?' } });
    await settle(studio, harbour);
    const [arrived] = (await alice.ok('listComments', { params: { id: shared.id } })).items;
    expect(arrived).toMatchObject({ body: 'Where is it?', remote_display_name: 'bob' });
    const answer = await alice.ok('createComment', {
      params: { id: shared.id },
      body: { body: 'Under the quay', parent_id: arrived?.id ?? null },
    });
    expect(await written('create', 'comment', answer.id)).not.toContain('Under the quay');
    await settle(harbour, studio);
    const [thread] = (await bob.ok('listComments', { params: { id } })).items;
    expect(thread).toMatchObject({ replies: [{ body: 'Under the quay' }] });
    expect((await studio.root.ok('listFederationRejections')).items[0]?.reason).toBe('encryption_required');
    const refused = (await harbour.root.ok('listFederationRejections')).items.map(({ type }) => type);
    expect(refused).not.toContain('POST /federation/inbox');
  });

  // FED-50, FED-55
  test('covers what was confirmed, not what is added or becomes restricted later', async () => {
    const later = await picture(20, { title: 'Added later', sensitivity: 'restricted' });
    const params = { id: shared.id };
    const ids = [...shared.members, later].map(({ id }) => ({ asset_id: id }));
    await alice.ok('updatePost', { params, body: { members: ids } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay', 'Unseen treasure']);
    const [quay] = shared.members;
    await alice.ok('updateAsset', { params: { id: quay?.id ?? '' }, body: { sensitivity: 'restricted' } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Unseen treasure']);
    await alice.ok('updateAsset', {
      params: { id: quay?.id ?? '' },
      body: { sensitivity: 'posts', title: 'Quay again' },
    });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again', 'Unseen treasure']);
  });

  // FED-52
  test('stays encrypted when the asset alone changes', async () => {
    const id = shared.members[1]?.id ?? '';
    await alice.ok('updateAsset', { params: { id }, body: { title: 'Seen by bob' } });
    const text = await written('update', 'asset', id);
    expect(text).not.toContain('Seen by bob');
    expect(text).not.toContain('contentKey');
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again', 'Seen by bob']);
    expect(await membersOf(eve, title)).toEqual(['Quay again']);
  });

  // FED-50, FED-55
  test('is withdrawn with the share of the person, and everywhere when the library stops sending it', async () => {
    const params = { id: shared.id, peer_id: peers.peerOfOne };
    await alice.ok('deletePostPeer', { params, query: { person: `${studio.address}/users/bob` } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again']);
    await alice.ok('putPostPeer', { params, body: { person: 'bob', confirm_sensitive: true } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toContain('Seen by bob');
    await allow('never');
    expect((await eventsOf(harbour, 'federation.sensitive.withdrawn')).length).toBeGreaterThan(0);
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again']);
    const { rows } = await sql`select from assets where sensitivity = 'restricted'`.execute(
      studio.database.db,
    );
    expect(rows).toEqual([]);
  });
});

/** A post of alice's with one picture that everyone may see. */
async function plainPost() {
  const post = await publish(alice, [await picture(30, { title: 'Plain', sensitivity: 'posts' })], {
    title: 'Plain',
  });
  await alice.ok('putPostPeer', { params: { id: post.id, peer_id: peers.peerOfOne }, body: {} });
  return post;
}
