import { getPeer, listPeers, listShareablePeers, type Peer } from '@vitrine/contract/federation';
import type { Language } from '@vitrine/contract/languages';
import { type RawBuilder, sql } from 'kysely';
import { shareInForce } from '../../../access/federation.ts';
import { unexpired } from '../../../access/live.ts';
import { handle } from '../../../core/handle.ts';
import { readerLanguage } from '../../../core/reader-language.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { newestFirst } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/refuse.ts';
import { sayStored } from '../../../platform/language/sentence.ts';
import { fingerprint } from '../protocol/signature.ts';

interface PeerRow extends Omit<Peer, 'fingerprint'> {
  public_key: Buffer;
}

const columns = sql`pe.id, pe.instance_url, pe.display_name, pe.public_key, pe.state, pe.capabilities, pe.accept_public,
  pe.accepted_here_at is not null as accepted_here, pe.accepted_there_at is not null as accepted_there,
  (select count(*) from federation_shares s where s.peer_id = pe.id and ${shareInForce}) as shared_count,
  (select count(*) from federation_grants g where g.peer_id = pe.id and ${unexpired('g')}) as received_count,
  (select count(*) from federation_outbox o where o.peer_id = pe.id and o.status = 'queued') as queued_count,
  (select count(*) from federation_outbox o where o.peer_id = pe.id and o.status = 'failed') as failed_count,
  (select count(*) from federation_fields f where f.peer_id = pe.id and f.decision is null and not f.agrees) as undecided_fields,
  pe.last_seen_at, pe.last_error, pe.created_at`;

function shown({ public_key, last_error, ...peer }: PeerRow, language: Language): Peer {
  return {
    ...peer,
    last_error: last_error === null ? null : sayStored(language, last_error),
    fingerprint: fingerprint(public_key),
  };
}

async function readPeers(db: Database, language: Language, rest: RawBuilder<unknown>): Promise<Peer[]> {
  const { rows } = await sql<PeerRow>`select ${columns} from federation_peers pe ${rest}`.execute(db);
  return rows.map((row) => shown(row, language));
}

/** Returns a peer with the health of its connection, in words of a language; throws 404 for an unknown one. */
export async function readPeer(db: Database, language: Language, id: string): Promise<Peer> {
  const [peer] = await readPeers(db, language, sql`where pe.id = ${id}`);
  if (peer === undefined) throw notFound();
  return peer;
}

export const get = handle(getPeer, async ({ db }, { caller, params, http }) => ({
  status: 200,
  body: await readPeer(db, readerLanguage(caller, http), params.id),
}));

export const list = handle(listPeers, async ({ db }, { caller, query, http }) => {
  const page = newestFirst(query, 'pe.created_at', 'pe.id');
  const peers = await readPeers(db, readerLanguage(caller, http), sql`where ${page.after} ${page.order}`);
  const cut = page.cut(peers, (peer) => ({ at: peer.created_at, id: peer.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

export const listShareable = handle(listShareablePeers, async ({ db }) => {
  const { rows } = await sql<{ id: string; display_name: string; instance_url: string }>`
    select id, display_name, instance_url from federation_peers where state = 'connected'
    order by lower(display_name), id`.execute(db);
  return { status: 200, body: { items: rows } };
});
