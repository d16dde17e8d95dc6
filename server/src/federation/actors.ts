import { closed } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Deps } from '../deps.ts';
import { compileLater } from '../platform/http/compile-later.ts';
import { refuse } from '../platform/http/refuse.ts';
import type { Install } from './identity.ts';
import { getJson, OutboundError } from './outbound.ts';
import { parseActorUri } from './protocol/addresses.ts';
import { Rejection } from './protocol/rejection.ts';
import { parsePublicKeyPem } from './protocol/signature.ts';

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
    }),
    { maxItems: 10 },
  ),
});
const actorDocument = compileLater(ActorDocument);

const columns = sql`ref, uri, username, display_name, signing_key, box_key`;

async function findActor(db: Deps['db'], uri: string): Promise<RemoteActor | null> {
  const { rows } = await sql<RemoteActor>`select ${columns}
    from remote_actors where uri = ${uri}`.execute(db);
  return rows[0] ?? null;
}

/** Reads the document of a person at a peer; throws Rejection when there is none or it does not fit its address. */
async function fetchActor(
  deps: Deps,
  install: Install,
  peer: KnownPeer,
  uri: string,
): Promise<Static<typeof ActorDocument>> {
  let found: unknown;
  try {
    found = await getJson(deps, uri, install);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    // The sender tries again later.
    if (error.status === null || error.status >= 500)
      throw refuse(503, 'the document of the person cannot be read');
    throw new Rejection('unknown_actor', error.message);
  }
  if (!actorDocument().Check(found))
    throw new Rejection('unknown_actor', 'the document of the person is malformed');
  const key = `${uri}#main-key`;
  if (found.id !== uri || found.publicKey.owner !== uri || found.publicKey.id !== key) {
    throw new Rejection('unknown_actor', 'the document belongs to another person');
  }
  if (found.inbox !== `${peer.url}/federation/inbox`)
    throw new Rejection('unknown_actor', 'the inbox is elsewhere');
  return found;
}

/**
 * Returns a person of a peer, from what is stored or, with `fresh` and for an unknown one, from their document (FED-4).
 * Throws Rejection for a person of another install.
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
  const known = fresh ? null : await findActor(deps.db, uri);
  if (known !== null) return known;
  const found = await fetchActor(deps, install, peer, uri);
  const signingKey = parsePublicKeyPem(found.publicKey.publicKeyPem);
  if (signingKey === null) throw new Rejection('unknown_actor', 'the key of the person is malformed');
  const [box] = found.publicKeys.toSorted((one, other) => other.version - one.version);
  const { rows } = await sql<RemoteActor>`
    insert into remote_actors (ref, peer_id, uri, username, display_name, signing_key, box_key, box_version)
    values (nextval(pg_get_serial_sequence('users', 'ref')), ${peer.peerId}, ${uri}, ${found.preferredUsername},
      ${found.name.trim() === '' ? found.preferredUsername : found.name.trim()}, ${signingKey},
      ${box === undefined ? null : Buffer.from(box.publicKey, 'base64url')}, ${box?.version ?? null})
    on conflict (uri) do update set username = excluded.username, display_name = excluded.display_name,
      signing_key = excluded.signing_key, box_key = excluded.box_key, box_version = excluded.box_version, fetched_at = now()
    returning ${columns}`.execute(deps.db);
  const [row] = rows;
  if (row === undefined) throw new Error('a person of a peer was not stored');
  return row;
}
