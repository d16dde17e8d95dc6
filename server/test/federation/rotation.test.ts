import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Install as Identity } from '../../src/federation/identity.ts';
import { readActorKeys } from '../../src/federation/keys.ts';
import { postSigned } from '../../src/federation/outbound.ts';
import { type Rotation, signRotation } from '../../src/federation/protocol/rotation.ts';
import { fingerprint, rawPublicKey, signEnvelope } from '../../src/federation/protocol/signature.ts';
import { readRotations } from '../../src/federation/statements.ts';
import { writeSetting } from '../../src/settings.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, identityOf, openInstall, pair, reasonOf, settle } from './installs.ts';

const PROTOCOL = 'https://artist-alley.org/protocol/v1';

/** A relay to an install that can be cut. Its address is the install's public address. */
async function openGate(install: Install) {
  const { port } = new URL(install.address);
  const server = createServer((socket) => {
    const onward = connect(Number(port), '127.0.0.1');
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const listen = (at: number) => new Promise<void>((done) => server.listen(at, '127.0.0.1', done));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const address = `http://127.0.0.1:${own}`;
  await writeSetting(install.database.db, 'base_url', address);
  return {
    address,
    cut: () => new Promise<void>((done) => server.close(() => done())),
    mend: () => listen(own),
  };
}

/** Makes everything due that waits for its next attempt. */
async function skipPauses({ database: { db } }: Install): Promise<void> {
  await sql`update federation_outbox set next_attempt_at = now()`.execute(db);
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
}

/** Ends the grace periods of all keys and runs the cleanup job. */
async function endGrace(...installs: readonly Install[]): Promise<void> {
  for (const { database, runJobs } of installs) {
    await sql`update federation_rotations set retained_until = now() - interval '1 second'`.execute(
      database.db,
    );
    await sql`update federation_retired_keys set accepted_until = now() - interval '1 second'`.execute(
      database.db,
    );
    await sql`update federation_box_keys set retained_until = now() - interval '1 second'
      where retained_until is not null`.execute(database.db);
    await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(database.db);
    await runJobs();
  }
}

const fingerprintsAt = async (install: Install) =>
  (await install.root.ok('listPeers')).items.map(({ fingerprint: shown }) => shown);

const reasonsAt = async (install: Install) =>
  (await install.root.ok('listFederationRejections')).items.map(({ reason }) => reason);

async function share(account: Account, peer: string, title: string, body: object = {}) {
  const asset = await upload(account, await jpeg(64, 48), { sensitivity: 'posts' }, `${title}.jpg`);
  const post = await publish(account, [asset], { title });
  await account.ok('putPostPeer', { params: { id: post.id, peer_id: peer }, body });
  return post;
}

const titlesAt = async (install: Install) =>
  (await install.root.ok('listPosts')).items.map(({ title }) => title).toSorted();

// FED-56
describe('the key of an install', () => {
  let harbour: Install;
  let studio: Install;
  let gate: Awaited<ReturnType<typeof openGate>>;
  let peer: string;
  const keys: { publicKey: Buffer; privateKey: KeyObject }[] = [];

  beforeAll(async () => {
    harbour = await openInstall('Harbour');
    studio = await openInstall('Studio');
    gate = await openGate(studio);
    ({ peerOfOne: peer } = await pair(harbour, { ...studio, address: gate.address }));
    keys.push((await identityOf(harbour)).key);
  });

  const rotate = async () => {
    await harbour.root.ok('rotateInstallKey');
    const { key } = await identityOf(harbour);
    keys.push(key);
    return key;
  };
  const signedBy = async (key: Identity['key'] | undefined): Promise<Identity> => {
    if (key === undefined) throw new Error('there is no such key');
    return { ...(await identityOf(harbour)), key, former: new Map() };
  };
  const batch = async (key: Identity['key'] | undefined) =>
    postSigned(harbour.deps, await signedBy(key), `${gate.address}/federation/inbox/batch`, []);
  const announce = async (key: Identity['key'] | undefined, rotations: Rotation[]) =>
    postSigned(harbour.deps, await signedBy(key), `${gate.address}/federation/peers/rotate`, {
      '@context': PROTOCOL,
      type: 'aa:KeyRotation',
      rotations,
      published: new Date().toISOString(),
    });
  const owner = () => `${harbour.address}/federation/instance`;

  test('is replaced at the peers, and the former one is accepted until the grace period ends', async () => {
    const next = await rotate();
    expect(await fingerprintsAt(studio)).toEqual([fingerprint(keys[0]?.publicKey ?? Buffer.alloc(0))]);
    // The peer has not learnt of it yet, so requests to it are signed with the former key.
    await share(harbour.root, peer, 'First', { person: 'root' });
    await settle(harbour, studio);
    expect(await fingerprintsAt(studio)).toEqual([fingerprint(next.publicKey)]);
    expect(await titlesAt(studio)).toEqual(['First']);
    expect(await reasonsAt(studio)).toEqual([]);
    const events = await studio.root.ok('listAudit', { query: { event: 'federation.peer.key_rotated' } });
    expect(events.items).toHaveLength(1);
    expect(await harbour.root.ok('getFederation')).toMatchObject({
      fingerprint: fingerprint(next.publicKey),
      key_grace_days: 7,
      former_key_until: expect.any(String),
    });

    await batch(keys[0]);
    await batch(keys[1]);
    await sql`update federation_retired_keys set accepted_until = now() - interval '1 second'`.execute(
      studio.database.db,
    );
    expect(await reasonOf(batch(keys[0]))).toBe('sig_invalid');
    await endGrace(harbour, studio);
    expect(await reasonOf(batch(keys[0]))).toBe('sig_invalid');
    await batch(keys[1]);
    expect(await harbour.root.ok('getFederation')).toMatchObject({ former_key_until: null });
  });

  test('is replaced twice while the peer is unreachable and changes are pending', async () => {
    await gate.cut();
    const post = await share(harbour.root, peer, 'Second');
    await settle(harbour);
    await rotate();
    await harbour.root.ok('updatePost', { params: { id: post.id }, body: { title: 'Third' } });
    await settle(harbour);
    await rotate();
    await skipPauses(harbour);
    await settle(harbour);
    // The peer is away for longer than any key is kept.
    await endGrace(harbour);
    await gate.mend();
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titlesAt(studio)).toEqual(['First', 'Third']);
    expect(await fingerprintsAt(studio)).toEqual([fingerprint(keys.at(-1)?.publicKey ?? Buffer.alloc(0))]);
    const { items } = await harbour.root.ok('listPeerQueue', { params: { id: peer } });
    expect(items.filter(({ status }) => status !== 'sent' && status !== 'skipped')).toEqual([]);
  });

  test('is announced to a peer without pending changes', async () => {
    const next = await rotate();
    await settle(harbour);
    expect(await fingerprintsAt(studio)).toEqual([fingerprint(next.publicKey)]);
  });

  test('is replaced only by a statement that the pinned key signed', async () => {
    const pinned = await fingerprintsAt(studio);
    const before = (await reasonsAt(studio)).length;
    const { privateKey } = generateKeyPairSync('ed25519');
    const stranger = { privateKey, publicKey: rawPublicKey(privateKey) };
    const [first, last] = [keys[0], keys.at(-1)];
    if (first === undefined || last === undefined) throw new Error('there are no keys');
    const now = new Date().toISOString();
    const told = await readRotations(harbour.database.db, null);
    const byPinned = signRotation(owner(), last, stranger.publicKey, now);
    const refused = [
      // An unrelated key.
      () => batch(stranger),
      () => announce(stranger, []),
      () => announce(stranger, told),
      // A replaced key is no longer valid.
      () => announce(stranger, [signRotation(owner(), first, stranger.publicKey, now)]),
      () => announce(stranger, [...told, signRotation(owner(), first, stranger.publicKey, now)]),
      // A statement for another install, and one that was changed.
      () =>
        announce(stranger, [
          signRotation(`${gate.address}/federation/instance`, last, stranger.publicKey, now),
        ]),
      () => announce(stranger, [{ ...byPinned, published: '2026-01-01T00:00:00Z' }]),
      () =>
        announce(stranger, [
          signRotation(owner(), { ...stranger, publicKey: last.publicKey }, stranger.publicKey, now),
        ]),
      // An earlier announcement does not bring back an earlier key.
      () => announce(keys[1], told.slice(0, 1)),
      // The statement without the key that it names.
      () => announce(last, [byPinned]),
    ];
    const reasons = [];
    for (const one of refused) reasons.push(await reasonOf(one()));
    expect(reasons).toEqual([
      'sig_invalid',
      'unknown_key',
      'sig_invalid',
      ...Array.from({ length: 6 }, () => 'unknown_key'),
      'sig_invalid',
    ]);
    expect(await announce(last, told)).toEqual({ state: 'known' });
    expect(await fingerprintsAt(studio)).toEqual(pinned);
    expect((await reasonsAt(studio)).length).toBe(before + refused.length);
  });

  test('is announced again to a peer that was restored from a backup with a former key', async () => {
    await sql`update federation_peers set public_key = ${keys[0]?.publicKey}`.execute(studio.database.db);
    await sql`delete from federation_retired_keys`.execute(studio.database.db);
    await endGrace(harbour);
    await share(harbour.root, peer, 'After the backup');
    await settle(harbour, studio);
    expect(await titlesAt(studio)).not.toContain('After the backup');
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titlesAt(studio)).toContain('After the backup');
    expect(await fingerprintsAt(studio)).toEqual([fingerprint(keys.at(-1)?.publicKey ?? Buffer.alloc(0))]);
  });

  // FED-14
  test('may be unknown to a peer when the pairing ends', async () => {
    await gate.cut();
    await rotate();
    await harbour.root.ok('removePeer', { params: { id: peer } });
    await harbour.runJobs();
    await gate.mend();
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await studio.root.ok('listPeers')).toMatchObject({
      items: [{ state: 'disabled', accepted_there: false }],
    });
    expect(await titlesAt(studio)).toEqual([]);
  });
});

// FED-57
describe('the keys of a person', () => {
  let harbour: Install;
  let studio: Install;
  let alice: Account;
  let bob: Account;
  let peer: string;

  beforeAll(async () => {
    harbour = await openInstall('Harbour');
    studio = await openInstall('Studio');
    ({ peerOfOne: peer } = await pair(harbour, studio));
    [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];
    await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
  });

  const act = async (privateKey: KeyObject, post: string) => {
    const actor = `${harbour.address}/users/alice`;
    const envelope = {
      '@context': PROTOCOL,
      type: 'Delete',
      id: `${harbour.address}/activities/${randomUUID()}`,
      actor,
      published: new Date().toISOString(),
      object: `${harbour.address}/posts/${post}`,
    };
    return postSigned(
      harbour.deps,
      await identityOf(harbour),
      `${studio.address}/federation/inbox`,
      signEnvelope(envelope, `${actor}#main-key`, privateKey),
    );
  };

  test('are replaced while changes wait, and former ones are accepted until the grace period ends', async () => {
    const { id: peerThere } = (await studio.root.ok('listPeers')).items[0] ?? { id: '' };
    await share(alice, peer, 'Before');
    await settle(harbour, studio);
    const former = await readActorKeys(harbour.deps, alice.ref);
    await studio.root.ok('disablePeer', { params: { id: peerThere } });
    await share(alice, peer, 'While away');
    await settle(harbour);
    await alice.ok('rotateOwnKeys');
    await studio.root.ok('acceptPeer', { params: { id: peerThere } });
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titlesAt(studio)).toEqual(['Before', 'While away']);
    expect(await reasonsAt(studio)).toEqual(['peer_disabled']);
    if (former === null) throw new Error('alice had no keys');
    expect(await act(former.signingPrivate, randomUUID())).toEqual({ status: 'accepted' });
    await endGrace(studio);
    expect(await reasonOf(act(former.signingPrivate, randomUUID()))).toBe('sig_invalid');
    const current = await readActorKeys(harbour.deps, alice.ref);
    if (current === null) throw new Error('alice has no keys');
    expect(await act(current.signingPrivate, randomUUID())).toEqual({ status: 'accepted' });
  });

  test('are refused when they simply differ', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const kept = await sql<{ public: Buffer }>`select signing_public as public from federation_keys
      where user_ref = ${alice.ref}`.execute(harbour.database.db);
    await sql`update federation_keys set signing_public = ${rawPublicKey(privateKey)} where user_ref = ${alice.ref}`.execute(
      harbour.database.db,
    );
    expect(await reasonOf(act(privateKey, randomUUID()))).toBe('unknown_key');
    expect((await reasonsAt(studio))[0]).toBe('unknown_key');
    await sql`update federation_keys set signing_public = ${kept.rows[0]?.public} where user_ref = ${alice.ref}`.execute(
      harbour.database.db,
    );
  });

  // FED-53
  test('that were replaced still decrypt until the grace period ends; then content is encrypted again', async () => {
    const secret = await upload(alice, await jpeg(65, 48), { title: 'Plan', sensitivity: 'restricted' });
    const params = { id: secret.id, peer_id: peer };
    await alice.ok('putAssetPeer', { params, body: { person: 'bob', confirm_sensitive: true } });
    await bob.ok('rotateOwnKeys');
    await settle(harbour, studio);
    const titles = async () =>
      (await bob.ok('listAssets')).items.map((one) => (one.restricted ? null : one.title));
    expect(await titles()).toContain('Plan');
    await endGrace(studio);
    await alice.ok('updateAsset', { params: { id: secret.id }, body: { title: 'Second plan' } });
    await settle(harbour, studio);
    expect((await reasonsAt(studio))[0]).toBe('decrypt_failed');
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titles()).toContain('Second plan');
    const { rows } = await sql<{ box_version: number }>`select box_version from remote_actors
      where username = 'bob'`.execute(harbour.database.db);
    expect(rows).toEqual([{ box_version: 2 }]);
  });

  test('for encryption are rejected without a signature', async () => {
    const { privateKey } = generateKeyPairSync('x25519');
    await sql`update federation_box_keys set public_key = ${rawPublicKey(privateKey)} where user_ref = ${bob.ref}`.execute(
      studio.database.db,
    );
    const secret = await upload(alice, await jpeg(66, 48), {
      title: 'Third plan',
      sensitivity: 'restricted',
    });
    const refused = await alice.refused('putAssetPeer', {
      params: { id: secret.id, peer_id: peer },
      body: { person: 'bob', confirm_sensitive: true },
    });
    expect(refused).toMatchObject({
      status: 409,
      error: `${studio.address}/users/bob has no key that content can be encrypted for`,
    });
    const [logged] = (await harbour.root.ok('listFederationRejections')).items;
    expect(logged).toMatchObject({ reason: 'unknown_key', type: `GET ${studio.address}/users/bob` });
  });
});
