import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import type { Install as Identity } from '../../src/exchange/federation/identity.ts';
import { postSigned } from '../../src/exchange/federation/outbound.ts';
import { type Rotation, signRotation } from '../../src/exchange/federation/protocol/rotation.ts';
import { fingerprint, rawPublicKey } from '../../src/exchange/federation/protocol/signature.ts';
import { readRotations } from '../../src/exchange/federation/statements.ts';
import { upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import {
  type Install,
  identityOf,
  keepFederation,
  openInstall,
  PROTOCOL,
  pair,
  reasonOf,
  rejectionsAt,
  rowsOf,
  send,
  settle,
  sharePost,
  signAs,
  signingKeyOf,
  skipPauses,
  titlesOf,
} from './installs.ts';
import { openGate } from './processes.ts';

const harbour = await openInstall('Harbour');
const studio = await openInstall('Studio');
const gate = await openGate(studio);
const pairing = await pair(harbour, { ...studio, address: gate.address });
const [peer, peerThere] = [pairing.peerOfOne, pairing.peerOfOther];
afterAll(() => gate?.close());

/** Ends the grace periods of all keys and runs the cleanup job. */
async function endGrace(...installs: readonly Install[]): Promise<void> {
  for (const install of installs) {
    const { db } = install.database;
    const past = sql`now() - interval '1 second'`;
    await sql`update federation_rotations set retained_until = ${past}`.execute(db);
    await sql`update federation_retired_keys set accepted_until = ${past}`.execute(db);
    await sql`update federation_box_keys set retained_until = ${past}
      where retained_until is not null`.execute(db);
    await keepFederation(install);
  }
}

const [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];
await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });

// FED-57
describe('the keys of a person', () => {
  /** Sends an activity of alice that is signed with this key. */
  async function act(privateKey: KeyObject) {
    const body = { type: 'Delete', object: `${harbour.address}/posts/${randomUUID()}` };
    return send(harbour, gate, signAs(harbour.address, `${harbour.address}/users/alice`, privateKey, body));
  }
  const accepted = { status: 'accepted' };
  const secretFor = async (title: string) => {
    const { id } = await upload(alice, plainFile(title), { title, sensitivity: 'restricted' });
    return { params: { id, peer_id: peer }, body: { person: 'bob', confirm_sensitive: true } };
  };

  test('are replaced while changes wait, and former ones are accepted until the grace period ends', async () => {
    await sharePost(alice, peer, 'Before');
    await settle(harbour, studio);
    const former = await signingKeyOf(harbour, alice);
    await studio.root.ok('disablePeer', { params: { id: peerThere } });
    await sharePost(alice, peer, 'While away');
    await settle(harbour);
    await alice.ok('rotateOwnKeys');
    await studio.root.ok('acceptPeer', { params: { id: peerThere } });
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titlesOf(bob)).toEqual(['Before', 'While away']);
    expect(await rejectionsAt(studio)).toEqual(['peer_disabled']);
    expect(await act(former)).toEqual(accepted);
    await endGrace(studio);
    expect(await reasonOf(act(former))).toBe('sig_invalid');
    expect(await act(await signingKeyOf(harbour, alice))).toEqual(accepted);
  });

  test('are refused when they simply differ', async () => {
    const { db } = harbour.database;
    const { privateKey } = generateKeyPairSync('ed25519');
    const own = await sql<{ key: Buffer }>`select signing_public as key from federation_keys
      where user_ref = ${alice.ref}`.execute(db);
    const publish = (key: Buffer | undefined) =>
      sql`update federation_keys set signing_public = ${key} where user_ref = ${alice.ref}`.execute(db);
    await publish(rawPublicKey(privateKey));
    expect(await reasonOf(act(privateKey))).toBe('unknown_key');
    expect((await rejectionsAt(studio))[0]).toBe('unknown_key');
    await publish(own.rows[0]?.key);
  });

  // FED-53
  test('that were replaced still decrypt until the grace period ends; then content is encrypted again', async () => {
    const secret = await secretFor('Plan');
    await alice.ok('putAssetPeer', secret);
    await bob.ok('rotateOwnKeys');
    await settle(harbour, studio);
    const titles = async () =>
      (await bob.ok('listAssets')).items.map((one) => (one.restricted ? null : one.title));
    expect(await titles()).toContain('Plan');
    await endGrace(studio);
    await alice.ok('updateAsset', { params: { id: secret.params.id }, body: { title: 'Second plan' } });
    await settle(harbour, studio);
    expect((await rejectionsAt(studio))[0]).toBe('decrypt_failed');
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titles()).toContain('Second plan');
    const known = sql`select box_version from remote_actors where username = 'bob'`;
    expect(await rowsOf(harbour, known)).toEqual([{ box_version: 2 }]);
  });

  test('for encryption stay pinned while the document of the person names none', async () => {
    const known = sql`select box_key, box_version from remote_actors where username = 'bob'`;
    const pinned = await rowsOf(harbour, known);
    expect(pinned).toEqual([{ box_key: expect.any(Buffer), box_version: 2 }]);
    const hide = (hidden: boolean) =>
      sql`update federation_box_keys set retained_until = ${hidden ? sql`now() - interval '1 day'` : null}
        where user_ref = ${bob.ref}`.execute(studio.database.db);
    await hide(true);
    await alice.ok('putAssetPeer', await secretFor('Kept plan'));
    await hide(false);
    expect(await rowsOf(harbour, known)).toEqual(pinned);
  });

  // FED-51
  test('for encryption are rejected without a signature', async () => {
    const { privateKey } = generateKeyPairSync('x25519');
    await sql`update federation_box_keys set public_key = ${rawPublicKey(privateKey)}
      where user_ref = ${bob.ref}`.execute(studio.database.db);
    expect(await alice.refused('putAssetPeer', await secretFor('Third plan'))).toMatchObject({
      status: 409,
      error: `${gate.address}/users/bob has no key that content can be encrypted for`,
    });
    const [logged] = (await harbour.root.ok('listFederationRejections')).items;
    expect(logged).toMatchObject({ reason: 'unknown_key', type: `GET ${gate.address}/users/bob` });
  });
});

const { key: first } = await identityOf(harbour);

// FED-56
describe('the key of an install', () => {
  type Key = Identity['key'];
  let second: Key;
  let last: Key;

  const rotate = async () => {
    await harbour.root.ok('rotateInstallKey');
    last = (await identityOf(harbour)).key;
  };
  const sendAs = async (key: Key, path: string, body: object) => {
    const identity = { ...(await identityOf(harbour)), key, former: new Map() };
    return postSigned(harbour.deps, identity, `${gate.address}/federation/${path}`, body);
  };
  const batch = (key: Key) => sendAs(key, 'inbox/batch', []);
  const announce = (key: Key, rotations: Rotation[]) => {
    const told = { '@context': PROTOCOL, type: 'aa:KeyRotation', rotations };
    return sendAs(key, 'peers/rotate', { ...told, published: new Date().toISOString() });
  };
  const pinned = async () => (await studio.root.ok('getPeer', { params: { id: peerThere } })).fingerprint;

  test('is replaced at the peers, and the former one is accepted until the grace period ends', async () => {
    const refused = (await rejectionsAt(studio)).length;
    await rotate();
    second = last;
    expect(await pinned()).toBe(fingerprint(first.publicKey));
    // The peer has not learnt of it yet, so requests to it are signed with the former key.
    await sharePost(harbour.root, peer, 'First');
    await settle(harbour, studio);
    expect(await pinned()).toBe(fingerprint(last.publicKey));
    expect(await titlesOf(studio.root)).toContain('First');
    expect(await rejectionsAt(studio)).toHaveLength(refused);
    const events = await studio.root.ok('listAudit', { query: { event: 'federation.peer.key_rotated' } });
    expect(events.items).toHaveLength(1);
    expect(await harbour.root.ok('getFederation')).toMatchObject({
      fingerprint: fingerprint(last.publicKey),
      key_grace_days: 7,
      former_key_until: expect.any(String),
    });

    await batch(first);
    await batch(last);
    await endGrace(harbour, studio);
    expect(await reasonOf(batch(first))).toBe('sig_invalid');
    await batch(last);
    expect(await harbour.root.ok('getFederation')).toMatchObject({ former_key_until: null });
  });

  test('is replaced twice while the peer is unreachable and changes are pending', async () => {
    gate.cut();
    const { id } = await sharePost(harbour.root, peer, 'Second');
    await settle(harbour);
    await rotate();
    await harbour.root.ok('updatePost', { params: { id }, body: { title: 'Third' } });
    await settle(harbour);
    await rotate();
    await skipPauses(harbour);
    await settle(harbour);
    // The peer is away for longer than any key is kept.
    await endGrace(harbour);
    gate.mend();
    // A connection that was cut may fail the first attempt.
    const afterRetries = async () => {
      await skipPauses(harbour);
      await settle(harbour, studio);
      return titlesOf(studio.root);
    };
    await expect.poll(afterRetries).toContain('Third');
    expect(await pinned()).toBe(fingerprint(last.publicKey));
    const { items } = await harbour.root.ok('listPeerQueue', { params: { id: peer } });
    expect(items.filter(({ status }) => status !== 'sent' && status !== 'skipped')).toEqual([]);
  });

  test('is announced to a peer without pending changes', async () => {
    await rotate();
    await settle(harbour);
    expect(await pinned()).toBe(fingerprint(last.publicKey));
  });

  test('is replaced only by a statement that the pinned key signed', async () => {
    const before = [await pinned(), (await rejectionsAt(studio)).length] as const;
    const { privateKey } = generateKeyPairSync('ed25519');
    const stranger = { privateKey, publicKey: rawPublicKey(privateKey) };
    const now = new Date().toISOString();
    const told = await readRotations(harbour.database.db, null);
    const statement = (by: Key, of: string = harbour.address) =>
      signRotation(`${of}/federation/instance`, by, stranger.publicKey, now);
    const byPinned = statement(last);
    const changed = { ...byPinned, published: '2026-01-01T00:00:00Z' };
    const forged = statement({ ...stranger, publicKey: last.publicKey });
    const cases: [what: string, reason: string, sent: () => Promise<unknown>][] = [
      ['an unrelated key', 'sig_invalid', () => batch(stranger)],
      ['no statement', 'unknown_key', () => announce(stranger, [])],
      ['statements of other keys', 'sig_invalid', () => announce(stranger, told)],
      ['a statement of a replaced key', 'unknown_key', () => announce(stranger, [statement(first)])],
      ['one more of it', 'unknown_key', () => announce(stranger, [...told, statement(first)])],
      ['one for another install', 'unknown_key', () => announce(stranger, [statement(last, gate.address)])],
      ['a changed one', 'unknown_key', () => announce(stranger, [changed])],
      ['a forged one', 'unknown_key', () => announce(stranger, [forged])],
      ['an earlier announcement', 'unknown_key', () => announce(second, told.slice(0, 1))],
      ['a statement without the key that it names', 'sig_invalid', () => announce(last, [byPinned])],
    ];
    for (const [what, reason, sent] of cases) expect([what, await reasonOf(sent())]).toEqual([what, reason]);
    expect(await announce(last, told)).toEqual({ state: 'known' });
    expect(await pinned()).toBe(before[0]);
    expect(await rejectionsAt(studio)).toHaveLength(before[1] + cases.length);
  });

  // FED-12
  test('is not replaced at a peer that disabled this library, until it is enabled again', async () => {
    await settle(harbour, studio);
    const before = await pinned();
    await studio.root.ok('disablePeer', { params: { id: peerThere } });
    await rotate();
    await settle(harbour, studio);
    expect(await pinned()).toBe(before);
    await studio.root.ok('acceptPeer', { params: { id: peerThere } });
    await sharePost(harbour.root, peer, 'After the pause');
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await pinned()).toBe(fingerprint(last.publicKey));
    expect(await titlesOf(studio.root)).toContain('After the pause');
  });

  test('is announced again to a peer that was restored from a backup with a former key', async () => {
    const { db } = studio.database;
    await sql`update federation_peers set public_key = ${first.publicKey}`.execute(db);
    await sql`delete from federation_retired_keys`.execute(db);
    await endGrace(harbour);
    await sharePost(harbour.root, peer, 'After the backup');
    await settle(harbour, studio);
    expect(await titlesOf(studio.root)).not.toContain('After the backup');
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await titlesOf(studio.root)).toContain('After the backup');
    expect(await pinned()).toBe(fingerprint(last.publicKey));
  });

  // FED-14
  test('may be unknown to a peer when the pairing ends', async () => {
    gate.cut();
    await rotate();
    await harbour.root.ok('removePeer', { params: { id: peer } });
    await harbour.runJobs();
    gate.mend();
    await skipPauses(harbour);
    await settle(harbour, studio);
    const { items } = await studio.root.ok('listPeers');
    expect(items).toMatchObject([{ state: 'disabled', accepted_there: false }]);
    expect(await titlesOf(studio.root)).toEqual([]);
  });
});
