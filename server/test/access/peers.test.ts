import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Post } from '@vitrine/contract/posts';
import { visibilityNames } from '@vitrine/contract/visibilities';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Install as Sender } from '../../src/exchange/federation/identity.ts';
import { OutboundError, postSigned } from '../../src/exchange/federation/outbound.ts';
import type { OutboxRow } from '../../src/exchange/federation/outbox-row.ts';
import { signHttp } from '../../src/exchange/federation/protocol/http-signature.ts';
import { rawPublicKey } from '../../src/exchange/federation/protocol/signature.ts';
import { renderChange } from '../../src/exchange/federation/render.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { identityOf, noteOf, openInstall, signAs } from '../federation/installs.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

/** The requesting peer. `share` is what it has of every target. */
interface PeerKind {
  name: string;
  /** Null if it is not in the list of peers. */
  state: 'connected' | 'disabled' | 'pending_inbound' | null;
  share: null | { scope: 'view' | 'comment'; with?: 'bob' | 'team'; ended?: 'expired' | 'revoked' };
  /** The acting person. */
  person: 'bob' | 'eve';
}

const connected = { state: 'connected', person: 'bob' } as const;
const kinds: readonly PeerKind[] = [
  { name: 'a stranger', state: null, share: null, person: 'bob' },
  { name: 'a peer to be accepted', state: 'pending_inbound', share: { scope: 'comment' }, person: 'bob' },
  { name: 'a disabled peer', state: 'disabled', share: { scope: 'comment' }, person: 'bob' },
  { ...connected, name: 'a peer without a share', share: null },
  { ...connected, name: 'a peer that may view', share: { scope: 'view' } },
  { ...connected, name: 'a peer that may comment', share: { scope: 'comment' } },
  { ...connected, name: 'a person', share: { scope: 'comment', with: 'bob' } },
  { ...connected, name: 'another person', share: { scope: 'comment', with: 'bob' }, person: 'eve' },
  // Only the peer knows the members of its teams.
  { ...connected, name: 'a person of a team', share: { scope: 'comment', with: 'team' }, person: 'eve' },
  {
    ...connected,
    name: 'a person of a team that may view',
    share: { scope: 'view', with: 'team' },
    person: 'eve',
  },
  { ...connected, name: 'a peer whose share expired', share: { scope: 'comment', ended: 'expired' } },
  { ...connected, name: 'a peer whose share was revoked', share: { scope: 'comment', ended: 'revoked' } },
];

interface Caller {
  kind: PeerKind;
  sender: Sender;
}

/** A post with one file, and whether the rules allow sending them to a peer with a share. */
interface Target {
  name: string;
  post: string;
  hash: string;
  /** FED-1, FED-35: whether the post and its file may be sent. */
  postGoes: boolean;
  fileGoes: boolean;
}

const posts: Target[] = [];
/** Files shared without a post. */
const files: { name: string; id: string; hash: string; goes: boolean }[] = [];

async function makePosts(): Promise<void> {
  const dora = await harbour.join('dora');
  const file = (name: string, fields: Record<string, string> = {}, owner = alice) =>
    upload(owner, plainFile(name), { sensitivity: 'posts', ...fields }, `${name}.bin`);
  const add = (
    name: string,
    post: Post,
    asset: { file_hash: string | null },
    goes: boolean,
    fileGoes = goes,
  ) => posts.push({ name, post: post.id, hash: asset.file_hash ?? '', postGoes: goes, fileGoes });
  for (const visibility of visibilityNames) {
    const asset = await file(visibility);
    const post = await publish(alice, [asset], { visibility });
    add(`a post that is ${visibility}`, post, asset, visibility !== 'private');
  }
  const ofDraft = await file('draft');
  add('a draft', await publish(alice, [ofDraft], { draft: true }), ofDraft, false);
  const ofDeleted = await file('deleted');
  const deleted = await publish(alice, [ofDeleted]);
  await alice.ok('deletePost', { params: { id: deleted.id }, body: undefined });
  add('a deleted post', deleted, ofDeleted, false);
  const narrow: [string, Record<string, string>][] = [
    ['mature', { mature: 'true' }],
    ['restricted', { sensitivity: 'restricted' }],
    ['for members only', { sensitivity: 'org' }],
  ];
  for (const [name, fields] of narrow) {
    const asset = await file(`of ${name}`, fields);
    add(`a post with a file that is ${name}`, await publish(alice, [asset]), asset, true, false);
  }
  const foreign = await file('foreign', { sensitivity: 'public' }, dora);
  add('a post with the file of someone else', await publish(alice, [foreign]), foreign, true, false);
  const ofPeer = await file('of a peer');
  const mirrored = await publish(alice, [ofPeer]);
  await sql`with of as (select id from federation_peers where state = 'disabled'),
      a as (update assets set origin_peer_id = of.id from of where assets.id = ${ofPeer.id})
    update posts set origin_peer_id = of.id from of where posts.id = ${mirrored.id}`.execute(
    harbour.database.db,
  );
  add('a post that another peer shares', mirrored, ofPeer, false);

  const single: [string, Record<string, string>, boolean][] = [
    ['a file of posts', {}, true],
    ['a public file', { sensitivity: 'public' }, true],
    ['a mature file', { mature: 'true' }, false],
    ['a restricted file', { sensitivity: 'restricted' }, false],
  ];
  for (const [name, fields, goes] of single) {
    const asset = await file(name, fields);
    files.push({ name, id: asset.id, hash: asset.file_hash ?? '', goes });
  }
  const thrown = await file('thrown away');
  await alice.ok('deleteAsset', { params: { id: thrown.id }, body: undefined });
  files.push({ name: 'a deleted file', id: thrown.id, hash: thrown.file_hash ?? '', goes: false });
}

/** Gives every peer its share of every target, including those that handlers would not allow. */
async function shareEverything(): Promise<void> {
  const { db } = harbour.database;
  for (const { kind, sender } of callers) {
    if (kind.state === null || kind.share === null) continue;
    const { scope, ended } = kind.share;
    const person = kind.share.with === 'bob' ? `${sender.url}/users/bob` : null;
    const team = kind.share.with === 'team' ? `${sender.url}/workspaces/${randomUUID()}` : null;
    await sql`insert into federation_shares (kind, object_id, peer_id, target_actor, target_team, scope, granted_by_user_ref, expires_at,
        revoked_at)
      select t.kind, t.id, pe.id, ${person}, ${team}, ${scope}, ${alice.ref},
        case when ${ended === 'expired'} then now() - interval '1 minute' end, case when ${ended === 'revoked'} then now() end
      from federation_peers pe, (
        select 'post' as kind, unnest(${posts.map(({ post }) => post)}::uuid[]) as id
        union all select 'asset', unnest(${files.map(({ id }) => id)}::uuid[])) t
      where pe.instance_url = ${sender.url}`.execute(db);
  }
}

const ownHashOf = (hash: string) => createHash('sha256').update(`a rendition of ${hash}`).digest('hex');

/** Gives every file a rendition that has a hash of its own. */
async function addRenditions(): Promise<void> {
  const renditions = [...posts, ...files].map(({ hash }) => ({
    hash,
    rendition: { object: originalKey(hash), type: 'image/webp', sha256: ownHashOf(hash) },
  }));
  await sql`update files f set renditions = jsonb_build_object('col', r.rendition || jsonb_build_object('bytes', f.size_bytes))
    from jsonb_to_recordset(${JSON.stringify(renditions)}::jsonb) r (hash text, rendition jsonb)
    where f.hash = r.hash`.execute(harbour.database.db);
}

async function makeCaller(kind: PeerKind, at: number): Promise<Caller> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const url = `https://peer-${at}.example`;
  const publicKey = rawPublicKey(privateKey);
  if (kind.state !== null) {
    const { db } = harbour.database;
    await sql`insert into federation_peers (instance_url, public_key, state, nonce) values (${url}, ${publicKey},
      ${kind.state}, 'nonce')`.execute(db);
    await sql`insert into remote_actors (ref, peer_id, uri, username, display_name, signing_key)
      select nextval(pg_get_serial_sequence('users', 'ref')), id, ${`${url}/users/${kind.person}`}, ${kind.person}, ${kind.person},
        ${publicKey} from federation_peers where instance_url = ${url}`.execute(db);
  }
  return { kind, sender: { url, name: kind.name, key: { privateKey, publicKey } } };
}

const harbour = await openInstall('Harbour');
const alice = await harbour.join('alice');
const callers: Caller[] = [];
for (const [at, kind] of kinds.entries()) callers.push(await makeCaller(kind, at));
await makePosts();
await addRenditions();
await shareEverything();

/** An envelope that the caller's person signs. */
function envelopeOf({ kind, sender }: Caller, body: object) {
  return signAs(sender.url, `${sender.url}/users/${kind.person}`, sender.key.privateKey, body);
}

const noteOn = ({ kind, sender }: Caller, uri: string) =>
  noteOf({ address: sender.url }, { username: kind.person }, uri);

const uriOf = ({ post }: Target) => `${harbour.address}/posts/${post}`;

/** Sends envelopes in batches and returns their outcomes: `accepted`, or the reason of the refusal. */
async function outcomes({ sender }: Caller, envelopes: readonly object[]): Promise<string[]> {
  try {
    const inbox = `${harbour.address}/federation/inbox/batch`;
    const answer = await postSigned(harbour.deps, sender, inbox, envelopes);
    const { results } = answer as { results: { status: string; reason?: string }[] };
    return results.map(({ status, reason }) => reason ?? status);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return envelopes.map(() => error.reason ?? String(error.status));
  }
}

/** Requests an address with the caller's signature, and returns 200 or the reason of the refusal. */
async function read({ sender }: Caller, path: string): Promise<string> {
  const url = new URL(harbour.address + path);
  const { privateKey } = sender.key;
  const keyId = `${sender.url}/federation/instance#main-key`;
  const headers = signHttp({ method: 'GET', url, body: null, keyId, privateKey, now: Date.now() });
  const answer = await fetch(url, { headers: { ...headers, accept: 'application/json' } });
  const text = await answer.text();
  return answer.ok ? 'ok' : String(JSON.parse(text).error ?? answer.status);
}

/** The response to every request of a caller without a connection; null for a connected peer. */
function closedTo({ state }: PeerKind): string | null {
  if (state === null) return 'unknown_peer';
  return state === 'connected' ? null : 'peer_disabled';
}

const inForce = ({ share }: PeerKind) => share !== null && share.ended === undefined;
/** A share with one person allows nobody else to act on the post. */
const mayAct = (kind: PeerKind) =>
  inForce(kind) && [undefined, 'team', kind.person].includes(kind.share?.with);

/** A post that peers get, one that they never get, and one of another install. */
const posted = ['a post that is public', 'a post that is private', 'a post that another peer shares'];
const examples = posts.filter(({ name }) => posted.includes(name));
/** A caller without a connection is refused before anything is looked up, whatever the object is. */
const targetsOf = ({ kind }: Caller) =>
  closedTo(kind) === null ? { posts, files } : { posts: examples, files: [] };

describe.each(callers)('$kind.name', (caller) => {
  const targets = targetsOf(caller);

  // FED-1, FED-3, FED-35, FED-40, FED-96
  test('gets only the bytes that its shares cover', async () => {
    const { kind } = caller;
    const due = (goes: boolean) => closedTo(kind) ?? (goes && inForce(kind) ? 'ok' : 'unshared_object');
    const ofPosts = targets.posts.map(({ name, hash, fileGoes }) => ({ name, hash, goes: fileGoes }));
    const unknown = { name: 'no file', hash: '0'.repeat(64), goes: false };
    for (const { name, hash, goes } of [...ofPosts, ...targets.files, unknown])
      for (const address of [`${hash}/bytes`, `${hash}/bytes?variant=col`, `${ownHashOf(hash)}/bytes`])
        expect([name, await read(caller, `/assets/${address}`)]).toEqual([name, due(goes)]);
    for (const path of ['changes?after=0', 'changes/shares'])
      expect([path, await read(caller, `/federation/${path}`)]).toEqual([path, closedTo(kind) ?? 'ok']);
  });

  // FED-1, FED-32, FED-74
  test('can like and comment only where its shares allow it', async () => {
    const { kind } = caller;
    const likes = await outcomes(
      caller,
      targets.posts.map((target) => envelopeOf(caller, { type: 'Like', object: uriOf(target) })),
    );
    const notes = await outcomes(
      caller,
      targets.posts.map((target) =>
        envelopeOf(caller, { type: 'Create', object: noteOn(caller, uriOf(target)) }),
      ),
    );
    const due = ({ name, postGoes }: Target, may: boolean) => {
      // The post is a copy of one that belongs to another install.
      const missing = name === 'a post that another peer shares' ? 'unknown_object' : 'unshared_object';
      return closedTo(kind) ?? (postGoes && may ? 'accepted' : missing);
    };
    const may = mayAct(kind);
    expect(likes).toEqual(targets.posts.map((target) => due(target, may)));
    expect(notes).toEqual(targets.posts.map((target) => due(target, may && kind.share?.scope === 'comment')));
  });

  // FED-1, FED-30
  test('cannot change, delete or share what belongs to this library', async () => {
    const now = new Date().toISOString();
    // That they belong to this library decides, not who may see them.
    const activities = examples.flatMap((target) => {
      const object = uriOf(target);
      const share = { object, object_kind: 'post', target_peer: harbour.address };
      const collection = {
        type: 'aa:Collection',
        id: `${harbour.address}/collections/${randomUUID()}`,
        attributedTo: `${harbour.address}/users/alice`,
        name: 'Taken',
        content: '',
        items: [object],
        published: now,
        updated: now,
      };
      return [
        { type: 'Delete', object },
        { type: 'aa:Share', ...share, scope: 'comment' },
        { type: 'Update', object: collection },
      ];
    });
    const before = await alice.ok('listPosts', { query: { limit: 100 } });
    const found = await outcomes(
      caller,
      activities.map((activity) => envelopeOf(caller, activity)),
    );
    expect(new Set(found).has('accepted')).toBe(false);
    expect((await alice.ok('listPosts', { query: { limit: 100 } })).items).toEqual(before.items);
  });

  // FED-4
  test('gets the document of a person only as a peer, unless the person has taken part', async () => {
    const { username } = await harbour.join(`person-${callers.indexOf(caller)}`);
    const due = closedTo(caller.kind) === null ? 'ok' : 'not found';
    expect(await read(caller, `/users/${username}`)).toBe(due);
    expect(await read(caller, '/federation/instance')).toBe('ok');
  });
});

// FED-30
test('not even an administrator can change or delete the copy of what a peer shares', async () => {
  const { db } = harbour.deps;
  const { rows } = await sql<{ post: string; asset: string }>`
    select p.id as post, m.asset_id as asset from posts p join post_members m on m.post_id = p.id
    where p.origin_peer_id is not null`.execute(db);
  const [copy] = rows;
  if (copy === undefined) throw new Error('the library has no copy of a post');
  const { root } = harbour;
  for (const [method, path, body] of [
    ['PATCH', `/posts/${copy.post}`, { title: 'Ours' }],
    ['DELETE', `/posts/${copy.post}`],
    ['PATCH', `/assets/${copy.asset}`, { title: 'Ours' }],
    ['DELETE', `/assets/${copy.asset}`],
  ] as const)
    expect([method, path, await root.status(method, path, body)]).toEqual([method, path, 403]);
});

// FED-20, FED-35
test('a change is recorded for the peers that have the object, and they get a Delete if the share ends first', async () => {
  const { db } = harbour.deps;
  const { root } = harbour;
  const peers = await db
    .selectFrom('federation_peers')
    .select('id')
    .where('state', '=', 'connected')
    .execute();
  const [one, two] = peers.map(({ id }) => id);
  if (one === undefined || two === undefined) throw new Error('two peers are connected');
  const bothOf = (name: string) =>
    Promise.all([
      upload(root, plainFile(name), { sensitivity: 'posts' }),
      root.ok('createCollection', { body: { name } }),
    ]);
  const changed = await bothOf('changed');
  for (const [[asset, collection], peer_id] of [
    [changed, one],
    [await bothOf('other'), two],
  ] as const) {
    await root.ok('putAssetPeer', { params: { id: asset.id, peer_id }, body: {} });
    await root.ok('putCollectionPeer', { params: { id: collection.id, peer_id }, body: {} });
  }
  await db.deleteFrom('federation_outbox').execute();
  const [asset, { id }] = changed;
  await root.ok('updateAsset', { params: { id: asset.id }, body: { title: 'Changed' } });
  await root.ok('updateCollection', { params: { id }, body: { name: 'Changed' } });
  const { rows } = await sql<OutboxRow>`select * from federation_outbox order by seq`.execute(db);
  expect(rows.map(({ peer_id, object_id }) => [peer_id, object_id])).toEqual([
    [one, asset.id],
    [one, id],
  ]);
  const install = await identityOf(harbour);
  const sent = () =>
    Promise.all(
      rows.map(async (row) => {
        const { envelope } = await renderChange(harbour.deps, install, row);
        const { type, object } = JSON.parse(envelope ?? '{}');
        return { type, object };
      }),
    );
  const update = { type: 'Update', object: { name: 'Changed' } };
  // Nothing is delivered here, so the record of what the peer received is written by hand.
  await sql`insert into federation_announced (peer_id, kind, object_id)
    select peer_id, kind, object_id from federation_outbox`.execute(db);
  expect(await sent()).toMatchObject([update, update]);
  await root.ok('putAssetPeer', { params: { id: asset.id, peer_id: two }, body: {} });
  await root.ok('putCollectionPeer', { params: { id, peer_id: two }, body: {} });
  await root.ok('deleteAssetPeer', { params: { id: asset.id, peer_id: one } });
  await root.ok('deleteCollectionPeer', { params: { id, peer_id: one } });
  const addresses = [`${harbour.address}/assets/${asset.id}`, `${harbour.address}/collections/${id}`];
  expect(await sent()).toEqual(addresses.map((object) => ({ type: 'Delete', object })));
});

// FED-3
test('an unsigned request gets only the document of the library', async () => {
  const statuses = new Map<string, number>();
  const headers = { accept: 'application/json' };
  const get = async (path: string) =>
    statuses.set(path, (await fetch(harbour.address + path, { headers })).status);
  const paths = [...posts, ...files].map(({ hash }) => `/assets/${hash}/bytes`);
  const lists = ['/federation/changes?after=0', '/federation/changes/shares'];
  for (const path of [...paths, ...lists, '/users/alice', '/federation/instance']) await get(path);
  const posted = ['inbox', 'inbox/batch', 'peers/offer', 'peers/confirm', 'peers/unpair', 'changes/resend'];
  for (const path of posted) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    statuses.set(path, (await fetch(`${harbour.address}/federation/${path}`, init)).status);
  }
  const others = new Map([
    ['/federation/instance', 200],
    ['/users/alice', 404],
  ]);
  expect([...statuses]).toEqual([...statuses.keys()].map((path) => [path, others.get(path) ?? 401]));
});
