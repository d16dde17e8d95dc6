import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { decryptersNamed } from '../../src/exchange/federation/box-keys.ts';
import { setRecipients } from '../../src/exchange/federation/mirror/recipients.ts';
import { getBytes, getJson } from '../../src/exchange/federation/outbound.ts';
import type { OutboxRow } from '../../src/exchange/federation/outbox-row.ts';
import { decryptFor, encryptFor } from '../../src/exchange/federation/protocol/box.ts';
import type { Encrypted } from '../../src/exchange/federation/protocol/envelope.ts';
import { rawPublicKey } from '../../src/exchange/federation/protocol/signature.ts';
import { renderChange } from '../../src/exchange/federation/render.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { withdrawGrants } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import {
  envelopeOf,
  identityOf,
  keepFederation,
  openInstall,
  openPair,
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
} from './installs.ts';

const { harbour, studio, peerOfOne: peer_id } = await openPair();
const alice = await harbour.join('alice');
const [bob, eve] = [await studio.join('bob'), await studio.join('eve')];

const allow = (sensitive_content: 'never' | 'encrypted') =>
  harbour.root.ok('updateFederation', { body: { sensitive_content } });
const forBob = { person: 'bob', confirm_sensitive: true };

const restricted = { sensitivity: 'restricted' };
const ordinary = { sensitivity: 'posts' };
let files = 0;
/** Uploads a file that is not rendered. */
const file = (title: string, fields: Record<string, string>) => {
  files += 1;
  return upload(alice, plainFile(`${files}`), { title, ...fields });
};

/** The titles of the members that an account is given, without placeholders. */
async function membersOf(reader: Account, title: string): Promise<string[]> {
  const post = (await reader.ok('listPosts')).items.find((one) => one.title === title);
  return (post?.members ?? []).flatMap((member) => (member.restricted === false ? [member.asset.title] : []));
}

async function eventsOf(event: string) {
  return (await harbour.root.ok('listAudit', { query: { event, limit: 100 } })).items;
}

/** Returns the envelope of the pending delivery at the harbour with this activity. */
async function written(
  activity: OutboxRow['activity'],
  kind: OutboxRow['kind'],
  id: string,
  deps = harbour.deps,
) {
  const pending = sql<OutboxRow>`select * from federation_outbox
    where activity = ${activity} and kind = ${kind} and object_id = ${id} order by seq desc limit 1`;
  const [row] = await rowsOf(harbour, pending);
  if (row === undefined) throw new Error('nothing waits');
  const { envelope: text } = await renderChange(deps, await identityOf(harbour), row);
  if (text === null) throw new Error('nothing to send');
  return text;
}

// FED-50
describe('restricted and mature content', () => {
  test('is refused while the library never sends it, even if it is confirmed', async () => {
    const asset = await file('Plan', restricted);
    const post = await publish(alice, [asset], { title: 'Only a plan' });
    const error = 'restricted and mature content stays in this library: “Plan” (restricted)';
    const refused = [
      await alice.refused('putAssetPeer', { params: { id: asset.id, peer_id }, body: forBob }),
      await alice.refused('putPostPeer', { params: { id: post.id, peer_id }, body: forBob }),
    ];
    expect(refused).toEqual(Array(2).fill({ status: 409, error }));
    expect(await eventsOf('federation.sensitive.refused')).toHaveLength(2);
  });

  test('needs a second confirmation that names it, and one person who can decrypt it', async () => {
    await allow('encrypted');
    const plan = await file('Plan', restricted);
    const nude = await file('Nude', { ...ordinary, mature: 'true' });
    const title = 'Three files';
    const post = await publish(alice, [await file('Quay', ordinary), plan, nude], { title });
    const params = { id: post.id, peer_id };
    const refused = async (body: object) => (await alice.refused('putPostPeer', { params, body })).error;
    expect(await refused({ person: 'bob' })).toBe(
      'sharing restricted and mature content needs a second confirmation (confirm_sensitive): “Plan” (restricted), “Nude” (mature)',
    );
    expect(await refused({ confirm_sensitive: true })).toContain('to one person');
    expect(await alice.ok('listPostPeers', { params: { id: post.id } })).toMatchObject({
      items: [],
      sensitive_content: 'encrypted',
      sensitive: [
        { asset_id: plan.id, title: 'Plan', restricted: true, mature: false, confirmable: true },
        { asset_id: nude.id, title: 'Nude', restricted: false, mature: true, confirmable: true },
      ],
    });
    const shared = await alice.ok('putPostPeer', { params, body: { ...forBob, scope: 'comment' } });
    expect(shared).toMatchObject({ encrypted: true });
    const [confirmed] = await eventsOf('federation.sensitive.confirmed');
    expect(confirmed?.metadata).toMatchObject({ assets: [plan.id, nude.id] });
    // Without the confirmation, only the rest is shared.
    await alice.ok('putPostPeer', { params, body: { person: 'bob', confirm_sensitive: false } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay']);
  });

  // FED-51
  test('is refused until the peer announces that it supports encryption', async () => {
    const params = { id: (await file('Plan', restricted)).id, peer_id };
    const { db } = harbour.database;
    await sql`update federation_peers set capabilities = '{batched-inbox-v1}'`.execute(db);
    // Asks the studio again, which now announces that it decrypts.
    await alice.ok('putAssetPeer', { params, body: forBob });
    await alice.ok('deleteAssetPeer', { params });
    // Ignores any key other than the pinned one.
    const other = Buffer.alloc(32);
    await sql`update federation_peers set capabilities = '{}', public_key = ${other}`.execute(db);
    const error = 'Studio cannot decrypt restricted and mature content';
    expect(await alice.refused('putAssetPeer', { params, body: forBob })).toEqual({ status: 409, error });
    const { key } = await identityOf(studio);
    await sql`update federation_peers set public_key = ${key.publicKey}`.execute(db);
    await alice.ok('putAssetPeer', { params, body: forBob });
    await alice.ok('deleteAssetPeer', { params });
    await settle(harbour, studio);
  });
});

describe('content that is encrypted for a person', () => {
  const title = 'Treasure map';
  const treasure = jpeg(320, 240, { seed: 11 });
  /** The post, its file for everyone, and its restricted picture. */
  let shared: { id: string; quay: string; secret: string; hash: string };
  let envelope: Record<string, unknown> & { encrypted: Encrypted };

  beforeAll(async () => {
    const quay = await file('Quay', ordinary);
    const secret = await upload(alice, await treasure, { title: 'Unseen treasure', ...restricted });
    await harbour.runJobs();
    const { id } = await publish(alice, [quay, secret], { title });
    shared = { id, quay: quay.id, secret: secret.id, hash: secret.file_hash ?? '' };
    await alice.ok('putPostPeer', { params: { id, peer_id }, body: { ...forBob, scope: 'comment' } });
    envelope = JSON.parse(await written('create', 'post', id));
  });

  /** Sends the studio the envelope with these changes, signed by alice again. */
  async function resend(changes: object) {
    const { signature: _, id: _id, ...unsigned } = envelope;
    return send(harbour, studio, await envelopeOf(harbour, alice, { ...unsigned, ...changes }));
  }
  const update = (id: string, body: object) => alice.ok('updateAsset', { params: { id }, body });

  // FED-53
  test('is encrypted with a key of the person, whose private part is stored sealed', async () => {
    const document = await getJson(harbour.deps, `${studio.address}/users/bob`, await identityOf(harbour));
    const keys = sql<{ public_key: Buffer; sealed: Buffer }>`select public_key, sealed
      from federation_box_keys where user_ref = ${bob.ref}`;
    const [key] = await rowsOf(studio, keys);
    const id = `${studio.address}/users/bob#box-1`;
    const publicKey = key?.public_key.toString('base64url');
    expect(document).toMatchObject({ publicKeys: [{ id, algorithm: 'x25519', version: 1, publicKey }] });
    expect(key?.sealed.includes('PRIVATE KEY')).toBe(false);
    const [account] = (await decryptersNamed(studio.deps, ['bob'])).values();
    expect(account?.keys.map((one) => rawPublicKey(one).toString('base64url'))).toEqual([publicKey]);
  });

  // FED-52
  test('cannot be read on the way', () => {
    const text = JSON.stringify(envelope);
    for (const secret of [title, 'Unseen treasure', 'Quay', shared.hash]) expect(text).not.toContain(secret);
    expect(envelope).toMatchObject({
      type: 'Create',
      to: [`${studio.address}/users/bob`],
      encrypted: { alg: 'nacl-box', recipients: [{ actor: `${studio.address}/users/bob` }] },
    });
  });

  // FED-52
  test('is rejected if it was changed, passed on by another peer, or no recipient here can decrypt it', async () => {
    const { encrypted } = envelope;
    const [box] = encrypted.recipients;
    if (box === undefined) throw new Error('there is no recipient');
    const last = box.ciphertext.at(-2) === 'A' ? 'B' : 'A';
    const changed = { ...box, ciphertext: box.ciphertext.slice(0, -2) + last + box.ciphertext.slice(-1) };
    const boxes = (recipient: object) => ({ encrypted: { ...encrypted, recipients: [recipient] } });
    const toAnother = (name: string) => resend(boxes({ ...box, actor: `${studio.address}/users/${name}` }));
    // Eve has a key, but it does not open what was encrypted for bob.
    await getJson(harbour.deps, `${studio.address}/users/eve`, await identityOf(harbour));
    const third = await openInstall('Third');
    await pair(third, studio);
    const mallory = await third.join('mallory');
    const foreign = await envelopeOf(third, mallory, { type: 'Create', encrypted });
    const cases: [what: string, reason: string, sent: () => Promise<unknown>][] = [
      ['changed', 'sig_invalid', () => send(harbour, studio, { ...envelope, ...boxes(changed) })],
      ['changed and signed again', 'decrypt_failed', () => resend(boxes(changed))],
      ['for another person', 'decrypt_failed', () => toAnother('eve')],
      ['for nobody', 'encryption_not_supported', () => toAnother('nobody')],
      ['of another type', 'plaintext_type_mismatch', () => resend({ type: 'Like' })],
      ['passed on', 'unknown_actor', () => send(third, studio, foreign)],
    ];
    for (const [what, reason, sent] of cases) expect([what, await reasonOf(sent())]).toEqual([what, reason]);
    const logged = (await rejectionsAt(studio)).slice(0, cases.length);
    expect(logged.toReversed()).toEqual(cases.map(([, reason]) => reason));
    const taken = sql`select from federation_inbox where type = 'Create'
      and activity_uri = ${String(envelope.id)}`;
    expect(await rowsOf(studio, taken)).toEqual([]);
    expect(await titlesOf(bob)).not.toContain(title);
  });

  // FED-52
  test('must be encrypted: restricted content in a plain envelope is refused', async () => {
    await settle(harbour, studio);
    const { id } = await sharePost(alice, peer_id, 'Plain');
    const { signature: _, id: _id, ...plain } = JSON.parse(await written('create', 'post', id));
    const [member] = plain.object.members;
    const object = { ...plain.object, members: [{ ...member, ...restricted }] };
    const exposed = await envelopeOf(harbour, alice, { ...plain, object });
    expect(await reasonOf(send(harbour, studio, exposed))).toBe('encryption_required');
  });

  // FED-55
  test('is restricted at the receiver to the person it was encrypted for', async () => {
    const params = { id: shared.id, peer_id };
    await alice.ok('putPostPeer', { params, body: { confirm_sensitive: false } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay', 'Unseen treasure']);
    expect(await membersOf(eve, title)).toEqual(['Quay']);
    const at = `/assets/${(await postOf(bob, title)).members[1]?.asset_id}`;
    const fetched = await bob.send(`${at}/file`);
    const length = String((await treasure).length);
    expect([fetched.status, fetched.headers.get('content-length')]).toEqual([200, length]);
    const statuses = [
      await bob.status('GET', `${at}/variants/col`),
      await eve.status('GET', `${at}/variants/col`),
      await eve.status('GET', `${at}/file`),
    ];
    expect(statuses).toEqual([200, 404, 404]);
    expect(await send(harbour, studio, envelope)).toEqual({ status: 'replayed' });
  });

  // FED-55
  test('is given only to recipients with whom it is shared by name', async () => {
    const { db } = studio.database;
    const [account] = (await decryptersNamed(studio.deps, ['bob'])).values();
    const content = decryptFor(`${studio.address}/users/bob`, account?.keys ?? [], envelope.encrypted);
    const { rows } = await sql<{ username: string; key: Buffer }>`select u.username, k.public_key as key
      from federation_box_keys k join users u on u.ref = k.user_ref`.execute(db);
    expect(rows.map(({ username }) => username).toSorted()).toEqual(['bob', 'eve']);
    const actorOf = (username: string) => `${studio.address}/users/${username}`;
    const recipients = rows.map(({ username, key }) => ({ actor: actorOf(username), key }));
    const encrypted = encryptFor(recipients, Object(content));
    expect(await resend({ encrypted })).toEqual({ status: 'accepted' });
    expect(await membersOf(bob, title)).toEqual(['Quay', 'Unseen treasure']);
    expect(await membersOf(eve, title)).toEqual(['Quay']);
    // At any time, not only after the sweep of ungranted objects.
    const { rows: given } = await sql<{ asset_id: string; uri: string; peer: string }>`
      select r.asset_id, r.uri, a.origin_peer_id as peer from federated_recipients r
        join assets a on a.id = r.asset_id where a.title = 'Unseen treasure'`.execute(db);
    const { asset_id, uri, peer } = given[0] ?? { asset_id: '', uri: '', peer: '' };
    await db.transaction().execute((tx) => setRecipients(tx, peer, asset_id, uri, [bob.ref, eve.ref]));
    const shares = sql`select user_ref from asset_shares where asset_id = ${asset_id}`;
    expect(await rowsOf(studio, shares)).toEqual([{ user_ref: bob.ref }]);
  });

  // FED-54
  test('has files that are served encrypted only, and to that peer alone', async () => {
    const own = await identityOf(studio);
    const address = `${harbour.address}/assets/${shared.hash}/bytes`;
    expect(await reasonOf(getBytes(studio.deps, own, address))).toBe('unshared_object');
    const original = Buffer.from(await treasure);
    const read = async () =>
      Buffer.concat(await (await getBytes(studio.deps, own, `${address}?encrypted=1`)).toArray());
    const [sent, again] = [await read(), await read()];
    expect(sent.length).toBe(original.length + 32);
    expect(sent.includes(original.subarray(100, 140))).toBe(false);
    expect(sent.equals(again)).toBe(false);
  });

  // FED-52
  test('is commented on in encrypted form from both sides', async () => {
    const params = { id: (await postOf(bob, title)).id };
    await bob.ok('createComment', { params, body: { body: 'Where is it?' } });
    await settle(studio, harbour);
    const [arrived] = (await alice.ok('listComments', { params: { id: shared.id } })).items;
    expect(arrived).toMatchObject({ body: 'Where is it?', remote_display_name: 'bob' });
    const reply = { body: 'Under the quay', parent_id: arrived?.id ?? null };
    const answer = await alice.ok('createComment', { params: { id: shared.id }, body: reply });
    expect(await written('create', 'comment', answer.id)).not.toContain('Under the quay');
    await settle(harbour, studio);
    const [thread] = (await bob.ok('listComments', { params })).items;
    expect(thread).toMatchObject({ replies: [{ body: 'Under the quay' }] });
    expect((await rejectionsAt(studio))[0]).toBe('encryption_required');
    const refused = (await harbour.root.ok('listFederationRejections')).items.map(({ type }) => type);
    expect(refused).not.toContain('POST /federation/inbox');
  });

  // FED-52
  test('is not commented on in plain text if the share ends at that moment', async () => {
    const { id } = await publish(alice, [await file('Chart', restricted)], { title: 'Chart' });
    const params = { id, peer_id };
    await alice.ok('putPostPeer', { params, body: { ...forBob, scope: 'comment' } });
    const body = 'Mind the reef';
    const comment = await alice.ok('createComment', { params: { id }, body: { body } });
    const db = harbour.deps.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows.some((row) => row.body === body)) await alice.ok('deletePostPeer', { params });
        return result;
      },
    });
    const text = await written('create', 'comment', comment.id, { ...harbour.deps, db });
    expect((await alice.ok('listPostPeers', { params: { id } })).items).toEqual([]);
    expect(text).toContain('nacl-box');
    expect(text).not.toContain(body);
    await settle(harbour, studio);
  });

  // FED-50, FED-52, FED-55
  test('covers what was confirmed, not what is added or becomes restricted later, and stays encrypted', async () => {
    const { id, quay, secret } = shared;
    const later = await file('Added later', restricted);
    const members = [quay, secret, later.id].map((asset_id) => ({ asset_id }));
    await alice.ok('updatePost', { params: { id }, body: { members } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay', 'Unseen treasure']);
    await update(quay, { sensitivity: 'restricted' });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Unseen treasure']);
    await update(quay, { sensitivity: 'posts', title: 'Quay again' });
    await update(secret, { title: 'Seen by bob' });
    const text = await written('update', 'asset', secret);
    for (const readable of ['Seen by bob', 'contentKey']) expect(text).not.toContain(readable);
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again', 'Seen by bob']);
    expect(await membersOf(eve, title)).toEqual(['Quay again']);
  });

  // FED-50, FED-55
  test('is withdrawn with the share of the person, and everywhere when the library stops sending it', async () => {
    const params = { id: shared.id, peer_id };
    await alice.ok('deletePostPeer', { params, query: { person: `${studio.address}/users/bob` } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again']);
    await alice.ok('putPostPeer', { params, body: forBob });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toContain('Seen by bob');
    await allow('never');
    expect(await eventsOf('federation.sensitive.withdrawn')).not.toEqual([]);
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Quay again']);
    expect(await rowsOf(studio, sql`select from assets where sensitivity = 'restricted'`)).toEqual([]);
  });
});

// FED-58
describe('restricted content in a post of someone else', () => {
  const titles = ['Quay of dora', 'Vault'];
  const refusal = {
    status: 403,
    error:
      'only the owner of restricted and mature content and administrators of assets can confirm that it is sent',
  };
  const setting = async (name: string) => {
    await allow('encrypted');
    const [dora, carol] = [await harbour.join(`dora-${name}`), await harbour.join(`carol-${name}`)];
    const params = { ref: carol.ref };
    await harbour.root.ok('grantCapability', { params, body: { capability: 'posts.admin' } });
    const quay = await upload(dora, plainFile(`quay-${name}`), { title: 'Quay of dora', ...ordinary });
    const vault = await upload(dora, plainFile(`vault-${name}`), { title: 'Vault', ...restricted });
    const title = `Two of dora, ${name}`;
    const post = await publish(dora, [quay, vault], { title });
    return { dora, carol, quay, vault, title, post, of: { id: post.id, peer_id } };
  };
  type Setting = Awaited<ReturnType<typeof setting>>;

  /** Sends a change of the post, and returns what the person receives of it. */
  async function received({ dora, title, post }: Setting): Promise<string[]> {
    await dora.ok('updatePost', { params: { id: post.id }, body: { description: `${Math.random()}` } });
    await settle(harbour, studio);
    return membersOf(bob, title);
  }

  test('cannot be confirmed by an editor of the post, who shares the rest', async () => {
    const at = await setting('editor');
    const { carol, of } = at;
    expect(await carol.refused('putPostPeer', { params: of, body: forBob })).toEqual(refusal);
    expect(await carol.ok('putPostPeer', { params: of, body: { person: 'bob' } })).toMatchObject({
      encrypted: false,
    });
    expect(await received(at)).toEqual(titles.slice(0, 1));
    const [event] = await eventsOf('federation.sensitive.refused');
    expect(event?.metadata).toMatchObject({ why: 'not_theirs', assets: [] });
  });

  test('cannot be confirmed by an account it is shared with', async () => {
    const at = await setting('sharee');
    const { dora, carol, vault, of } = at;
    await dora.ok('putAssetShare', { params: { id: vault.id, user_ref: carol.ref }, body: {} });
    expect(await carol.refused('putPostPeer', { params: of, body: forBob })).toEqual(refusal);
    const { sensitive } = await carol.ok('listPostPeers', { params: { id: of.id } });
    expect(sensitive).toMatchObject([{ title: 'Vault', confirmable: false }]);
  });

  test('leaves the peer by itself when the right to confirm it ends, and comes back with the right', async () => {
    const at = await setting('ended');
    const { carol, of, title } = at;
    const grant = { params: { ref: carol.ref }, body: { capability: 'assets.admin' as const } };
    await harbour.root.ok('grantCapability', grant);
    await carol.ok('putPostPeer', { params: of, body: forBob });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(titles);
    const pending = sql`select from federation_outbox where status = 'queued'`;
    await keepFederation(harbour);
    expect(await rowsOf(harbour, pending)).toEqual([]);

    await withdrawGrants(harbour, carol);
    await keepFederation(harbour);
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(titles.slice(0, 1));
    await harbour.root.ok('grantCapability', grant);
    await keepFederation(harbour);
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(titles);
    // A confirmation that is withdrawn takes effect at once.
    await harbour.root.ok('grantCapability', { ...grant, body: { capability: 'posts.admin' } });
    await carol.ok('putPostPeer', { params: of, body: { person: 'bob', confirm_sensitive: false } });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(titles.slice(0, 1));
  });

  test('is refused without its title if nothing else remains', async () => {
    const { dora, carol, vault } = await setting('alone');
    const { id } = await publish(dora, [vault], { title: 'Only a vault' });
    for (const body of [{}, { person: 'bob' }, forBob, { person: 'bob', confirm_sensitive: false }])
      expect(await carol.refused('putPostPeer', { params: { id, peer_id }, body })).toEqual(refusal);
  });

  test('is a placeholder in the list of shares, with the name of its owner and no property of its own', async () => {
    const { dora, carol, vault, of } = await setting('placeholder');
    const { sensitive } = await carol.ok('listPostPeers', { params: { id: of.id } });
    expect(sensitive).toEqual([{ asset_id: vault.id, restricted: true, owner_display_name: dora.username }]);
  });

  test('leaves out members of other owners and names only those that the caller can confirm', async () => {
    const at = await setting('team');
    const { dora, carol } = at;
    const team = await harbour.root.ok('createTeam', { body: { slug: 'vaults', name: 'Vaults' } });
    for (const { ref } of [dora, carol])
      await harbour.root.ok('addTeamMember', { params: { id: team.id, user_ref: ref } });
    const terms = { ...restricted, team_id: team.id };
    const hers = await upload(dora, plainFile('of dora'), { title: 'Of dora', ...terms });
    const own = await upload(carol, plainFile('of carol'), { title: 'Of carol', ...terms });
    const title = 'Of the team';
    await carol.ok('putAssetShare', { params: { id: own.id, user_ref: dora.ref }, body: {} });
    const { id } = await publish(dora, [hers, own], { title, team_id: team.id });
    const params = { id, peer_id };
    expect((await carol.refused('putPostPeer', { params, body: { person: 'bob' } })).error).toBe(
      'sharing restricted and mature content needs a second confirmation (confirm_sensitive): “Of carol” (restricted)',
    );
    await carol.ok('putPostPeer', { params, body: forBob });
    await settle(harbour, studio);
    expect(await membersOf(bob, title)).toEqual(['Of carol']);
  });

  test('is sent while the account that confirmed it may still do so', async () => {
    const at = await setting('right');
    const { root } = harbour;
    const params = { ref: at.carol.ref };
    const admin = { params, body: { capability: 'assets.admin' } } as const;
    await root.ok('grantCapability', admin);
    await at.carol.ok('putPostPeer', { params: at.of, body: forBob });
    expect(await received(at)).toEqual(titles);
    const path = `/assets/${at.vault.file_hash}/bytes?encrypted=1`;
    const read = async () => getBytes(studio.deps, await identityOf(studio), harbour.address + path);
    await (await read()).toArray();
    await root.ok('removeGrant', admin);
    expect(await reasonOf(read())).toBe('unshared_object');
    expect(await received(at)).toEqual(titles.slice(0, 1));
    await root.ok('grantCapability', admin);
    expect(await received(at)).toEqual(titles);
    await root.ok('revokeCapability', admin);
    expect(await received(at)).toEqual(titles.slice(0, 1));
  });

  test('is left out of a change that is repeated after the right to send it has ended', async () => {
    const at = await setting('retry');
    const { carol, of, post } = at;
    const admin = { params: { ref: carol.ref }, body: { capability: 'assets.admin' } } as const;
    await harbour.root.ok('grantCapability', admin);
    await carol.ok('putPostPeer', { params: of, body: forBob });
    const { db } = studio.database;
    await sql`update federation_peers set state = 'disabled'`.execute(db);
    await harbour.runJobs();
    const waiting = sql<{ envelope: string | null }>`select envelope from federation_outbox
      where object_id = ${post.id} and activity = 'create' and status = 'queued'`;
    expect((await rowsOf(harbour, waiting))[0]?.envelope).toContain('nacl-box');
    await harbour.root.ok('removeGrant', admin);
    await sql`update federation_peers set state = 'connected'`.execute(db);
    await skipPauses(harbour);
    await settle(harbour, studio);
    expect(await membersOf(bob, at.title)).toEqual(titles.slice(0, 1));
  });
});
