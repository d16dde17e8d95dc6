import { foldName } from '@vitrine/contract/names';
import { closed } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Deps } from '../../core/deps.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';
import type { Install } from './identity.ts';
import { getJson, OutboundError } from './outbound.ts';
import { actorUri, parseActorUri } from './protocol/addresses.ts';
import { Rejection } from './protocol/rejection.ts';
import { followRotations, isSignedBoxKey, Rotations } from './protocol/rotation.ts';
import { parsePublicKeyPem } from './protocol/signature.ts';
import { readKeyGraceDays } from './settings.ts';

/** A person of a peer. Mirrored rows carry `ref` as author and owner; no account has that number. */
export interface RemoteActor {
  ref: number;
  uri: string;
  username: string;
  display_name: string;
  /** 32 raw bytes. */
  signing_key: Buffer;
  /** 32 raw bytes of X25519, to encrypt for them; null while none is known. */
  box_key: Buffer | null;
  box_version: number | null;
}

export interface KnownPeer {
  peerId: string;
  url: string;
}

const ActorDocument = closed({
  '@context': Type.Literal('https://artist-alley.org/protocol/v1'),
  type: Type.Literal('aa:Actor'),
  id: Type.String({ maxLength: 500 }),
  preferredUsername: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.String({ maxLength: 200 }),
  inbox: Type.String({ maxLength: 500 }),
  publicKey: closed({
    id: Type.String({ maxLength: 600 }),
    owner: Type.String({ maxLength: 500 }),
    publicKeyPem: Type.String({ maxLength: 500 }),
  }),
  publicKeys: Type.Array(
    closed({
      id: Type.String({ maxLength: 600 }),
      algorithm: Type.Literal('x25519'),
      version: Type.Integer({ minimum: 1 }),
      publicKey: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
      /** By the signing key of the person; needed to replace an earlier version. */
      signature: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' })),
    }),
    { maxItems: 10 },
  ),
  /** The statements by which earlier keys named their successors. */
  rotations: Type.Optional(Rotations),
});
const actorDocument = compileLater(ActorDocument);

const columns = sql`ref, uri, username, display_name, signing_key, box_key, box_version`;

async function findActor(db: Deps['db'], uri: string): Promise<RemoteActor | null> {
  const { rows } = await sql<RemoteActor>`select ${columns}
    from remote_actors where uri = ${uri}`.execute(db);
  return rows[0] ?? null;
}

/** Reads a document of a person; throws Rejection if it is missing or malformed. */
async function readActorDocument(
  deps: Deps,
  install: Install,
  uri: string,
): Promise<Static<typeof ActorDocument>> {
  let found: unknown;
  try {
    found = await getJson(deps, uri, install);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    // The sender tries again later.
    if (error.status === null || error.status >= 500) throw refuse('person-document-unreadable');
    throw new Rejection('unknown_actor', error.message);
  }
  if (!actorDocument().Check(found))
    throw new Rejection('unknown_actor', 'the document of the person is malformed');
  return found;
}

/** Reads the document of a person at a peer; throws Rejection if it is missing or does not match its address. */
async function fetchActor(
  deps: Deps,
  install: Install,
  peer: KnownPeer,
  uri: string,
): Promise<Static<typeof ActorDocument>> {
  const found = await readActorDocument(deps, install, uri);
  const key = `${uri}#main-key`;
  if (found.id !== uri || found.publicKey.owner !== uri || found.publicKey.id !== key) {
    throw new Rejection('unknown_actor', 'the document belongs to another person');
  }
  if (found.inbox !== `${peer.url}/federation/inbox`)
    throw new Rejection('unknown_actor', 'the inbox is elsewhere');
  return found;
}

/** The form in which recipients are compared: a person may be named in any spelling (NAME-1). */
export function targetKey(target: string): string {
  const person = parseActorUri(target);
  return person === null ? target.toLowerCase() : actorUri(person.base, foldName(person.username));
}

/**
 * Returns the address that a person of a peer signs with, for an address with any spelling of the name (NAME-1), as the
 * peer states it. Throws Rejection if there is no such person.
 */
export async function ownSpellingOf(
  deps: Deps,
  install: Install,
  peer: KnownPeer,
  uri: string,
): Promise<string> {
  if (parseActorUri(uri)?.base !== peer.url || (await findActor(deps.db, uri)) !== null) return uri;
  const { id } = await readActorDocument(deps, install, uri);
  return targetKey(id) === targetKey(uri) ? id : uri;
}

/**
 * Returns the keys in the document of a person. If keys of the person are already stored, statements must lead from the
 * stored signing key to the new one, and the encryption key must be signed by it (FED-57). Throws Rejection for keys
 * that differ without this proof.
 */
function keysIn(found: Static<typeof ActorDocument>, known: RemoteActor | null) {
  const signingKey = parsePublicKeyPem(found.publicKey.publicKeyPem);
  if (signingKey === null) throw new Rejection('unknown_actor', 'the key of the person is malformed');
  const follows =
    known === null ||
    followRotations(known.uri, known.signing_key, found.rotations ?? [])?.equals(signingKey);
  const same = known?.signing_key.equals(signingKey) ?? true;
  if (!same && follows !== true)
    throw new Rejection('unknown_key', 'the key of the person differs, and the former one does not state it');
  const [box] = found.publicKeys.toSorted((a, b) => b.version - a.version);
  // Keeps the stored encryption key if the document has none; otherwise any key could replace it later.
  if (box === undefined)
    return { signingKey, boxKey: known?.box_key ?? null, boxVersion: known?.box_version ?? null };
  const boxKey = Buffer.from(box.publicKey, 'base64url');
  const isPinned = known === null || known.box_key === null || known.box_key.equals(boxKey);
  if (!isPinned) {
    const newer = box.version > (known.box_version ?? 0);
    if (!newer || !isSignedBoxKey(known.uri, box, signingKey))
      throw new Rejection('unknown_key', 'the encryption key of the person differs, and is not signed');
  }
  return { signingKey, boxKey, boxVersion: box.version };
}

/** Returns the former signing keys of a person that are still accepted. */
export async function formerKeys(db: Deps['db'], uri: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('federation_retired_keys')
    .select('public_key')
    .where('owner', '=', uri)
    .where('accepted_until', '>', sql<string>`now()`)
    .execute();
  return rows.map(({ public_key }) => public_key);
}

/** Accepts the former signing key of a person until the grace period ends. */
async function retireKey(db: Deps['db'], peerId: string, { uri, signing_key }: RemoteActor): Promise<void> {
  const days = await readKeyGraceDays(db);
  await db
    .insertInto('federation_retired_keys')
    .values({
      owner: uri,
      peer_id: peerId,
      public_key: signing_key,
      accepted_until: sql<string>`now() + make_interval(days => ${days})`,
    })
    .onConflict((conflict) => conflict.columns(['owner', 'public_key']).doNothing())
    .execute();
}

/**
 * Returns a person of a peer, as stored. Reads their document if the person is unknown or `fresh` is set
 * (FED-4). Throws Rejection for a person of another install.
 */
export async function resolveActor(
  deps: Deps,
  install: Install,
  peer: KnownPeer,
  uri: string,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<RemoteActor> {
  if (parseActorUri(uri)?.base !== peer.url)
    throw new Rejection('unknown_actor', 'the person belongs to another install');
  const known = await findActor(deps.db, uri);
  if (known !== null && !fresh) return known;
  const found = await fetchActor(deps, install, peer, uri);
  const { signingKey, boxKey, boxVersion } = keysIn(found, known);
  if (known !== null && !known.signing_key.equals(signingKey)) await retireKey(deps.db, peer.peerId, known);
  const { rows } = await sql<RemoteActor>`
    insert into remote_actors (ref, peer_id, uri, username, display_name, signing_key, box_key, box_version)
    values (nextval(pg_get_serial_sequence('users', 'ref')), ${peer.peerId}, ${uri}, ${found.preferredUsername},
      ${found.name.trim() === '' ? found.preferredUsername : found.name.trim()}, ${signingKey},
      ${boxKey}, ${boxVersion})
    on conflict (uri) do update set username = excluded.username, display_name = excluded.display_name,
      signing_key = excluded.signing_key, box_key = excluded.box_key, box_version = excluded.box_version, fetched_at = now()
    returning ${columns}`.execute(deps.db);
  const [row] = rows;
  if (row === undefined) throw new Error('a person of a peer was not stored');
  return row;
}
