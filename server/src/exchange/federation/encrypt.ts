import { sql } from 'kysely';
import {
  assetsGivenEncrypted,
  confirmedShares,
  confirmedWith,
  membersGivenEncrypted,
  type PeerCaller,
  postsGivenTo,
} from '../../access/federation.ts';
import type { Deps } from '../../core/deps.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import { type RemoteActor, resolveActor } from './actors.ts';
import type { Install } from './identity.ts';
import type { OutboxRow } from './outbox-row.ts';
import { encryptFor } from './protocol/box.ts';
import type { Encrypted } from './protocol/envelope.ts';
import { Rejection } from './protocol/rejection.ts';
import { logRefused } from './rejections.ts';

/** How long a stored encryption key is used without asking for a newer one. */
const KEY_IS_FRESH_MS = 3600_000;

/**
 * Returns the addresses of the recipients for whom a change is encrypted; null for a change that is sent in
 * plain text (FED-52).
 */
export async function recipientsOf(deps: Deps, row: OutboxRow): Promise<string[] | null> {
  if (row.activity !== 'create' && row.activity !== 'update') return null;
  const peer: PeerCaller = { kind: 'peer', peerId: row.peer_id };
  const ofPost = sql`select c.target_actor as uri from posts p, lateral (${confirmedShares(peer, 'post', sql`p.id`)}) c
    where exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = p.id and ${membersGivenEncrypted(peer)})`;
  const query = {
    post: sql`${ofPost} and p.id = ${row.object_id}`,
    asset: sql`select c.target_actor as uri from assets a, lateral (${confirmedShares(peer, 'asset', sql`a.id`)}) c
      where a.id = ${row.object_id} and ${confirmedWith('c')} and ${assetsGivenEncrypted(peer)}
      union
      select c.target_actor from assets a join post_members m on m.asset_id = a.id join posts p on p.id = m.post_id,
        lateral (${confirmedShares(peer, 'post', sql`p.id`)}) c
      where a.id = ${row.object_id} and ${postsGivenTo(peer)} and ${membersGivenEncrypted(peer)}`,
    // Comments on an encrypted post are encrypted for its readers at the peer, or for its author there.
    comment: sql`${ofPost} and p.id = (select post_id from comments where id = ${row.object_id})
      union
      select r.uri from comments k join posts p on p.id = k.post_id join remote_actors r on r.ref = p.author_user_ref
      where k.id = ${row.object_id} and p.origin_peer_id = ${row.peer_id} and exists (
        select from federated_objects o join federated_recipients f on f.uri = o.uri
        where o.kind = 'post' and o.local_id = p.id)`,
    collection: null,
    field: null,
  }[row.kind];
  if (query === null) return null;
  const { rows } = await sql<{ uri: string }>`${query}`.execute(deps.db);
  return rows.length === 0 ? null : [...new Set(rows.map(({ uri }) => uri))].sort();
}

/**
 * Returns a person with a current encryption key. Reads it again if `fresh` is set or the stored key is old,
 * and falls back to the stored key while the peer is unreachable. Null if there is no such person, or if the
 * keys differ from the known ones, which is logged (FED-57).
 */
export async function recipientAt(
  deps: Deps,
  install: Install,
  peer: { peerId: string; url: string },
  uri: string,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<RemoteActor | null> {
  const { rows } = await sql<{ current: boolean }>`
    select fetched_at > now() - make_interval(secs => ${KEY_IS_FRESH_MS / 1000}) and box_key is not null as current
    from remote_actors where uri = ${uri}`.execute(deps.db);
  try {
    return await resolveActor(deps, install, peer, uri, { fresh: fresh || rows[0]?.current !== true });
  } catch (error) {
    if (error instanceof Refusal) return rows.length === 0 ? null : resolveActor(deps, install, peer, uri);
    if (!(error instanceof Rejection)) throw error;
    await logRefused(deps.db, error, {
      peerId: peer.peerId,
      instanceUrl: peer.url,
      activityUri: null,
      type: `GET ${uri}`,
    });
    return null;
  }
}

/** Encrypts the content of an activity for these persons (FED-52); null when none of them has a key. */
export async function encryptForPersons(
  deps: Deps,
  install: Install,
  row: OutboxRow,
  recipients: readonly string[],
  content: object,
): Promise<Encrypted | null> {
  const rows = await deps.db
    .selectFrom('federation_peers')
    .select('instance_url as url')
    .where('id', '=', row.peer_id)
    .execute();
  const url = rows[0]?.url ?? '';
  const found: { actor: string; key: Buffer }[] = [];
  for (const uri of recipients) {
    const person = await recipientAt(deps, install, { peerId: row.peer_id, url }, uri);
    if (person !== null && person.box_key !== null) found.push({ actor: uri, key: person.box_key });
  }
  return found.length === 0 ? null : encryptFor(found, content);
}
