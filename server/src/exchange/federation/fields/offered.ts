import { sql } from 'kysely';
import { showFields } from '../../../content/fields/definitions/read.ts';
import { readFieldsEpoch } from '../../../content/fields/definitions/transaction.ts';
import { enqueue } from '../../../core/job-table.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import type { AaFieldDefinition, AaFieldDefinitions } from '../protocol/field-definitions.ts';
import { Rejection } from '../protocol/rejection.ts';
import { agrees } from './compare.ts';

/** The most fields that one peer can offer. */
const MOST_OFFERED = 1000;

/** Recomputes which of a peer's undecided fields mean the same as ours, where definitions here may have changed. */
export async function compareOffered(tx: Tx, peerId: string): Promise<void> {
  const epoch = await readFieldsEpoch(tx);
  const { rows } = await sql<{ code: string; offered: AaFieldDefinition }>`select code, offered
    from federation_fields where peer_id = ${peerId} and decision is null and compared_epoch <> ${epoch}`.execute(
    tx,
  );
  if (rows.length === 0) return;
  const own = await showFields(tx, sql`d.code = any(${rows.map(({ code }) => code)}::text[])`);
  const byCode = new Map(own.map((field) => [field.code, field]));
  const same = rows.filter(({ code, offered }) => agrees(byCode.get(code), offered)).map(({ code }) => code);
  await sql`update federation_fields set agrees = code = any(${same}::text[]), compared_epoch = ${epoch}
    where peer_id = ${peerId} and decision is null and compared_epoch <> ${epoch}`.execute(tx);
}

/**
 * Stores the definitions of a peer as offers (FED-61): no field here is created or changed. A job uses or withdraws the
 * values they belong to.
 */
export async function receiveDefinitions(
  tx: Tx,
  peerId: string,
  { items, updated }: AaFieldDefinitions,
): Promise<void> {
  const byCode = new Map(items.map((item) => [item.code, item]));
  if (byCode.size < items.length) throw new Rejection('malformed', 'a code occurs twice');
  const codes = [...byCode.keys()];
  const { rows: sizes } = await sql<{ others: number }>`select count(*) as others from federation_fields
    where peer_id = ${peerId} and code <> all(${codes}::text[])`.execute(tx);
  if ((sizes[0]?.others ?? 0) + codes.length > MOST_OFFERED)
    throw new Rejection('too_large', `a peer has at most ${MOST_OFFERED} fields here`);
  const offers = items.map((offered) => ({ code: offered.code, offered }));
  const { rows } = await sql<{ code: string }>`
    insert into federation_fields as f (peer_id, code, offered, version)
    select ${peerId}, x.code, x.offered, ${updated}
    from jsonb_to_recordset(${JSON.stringify(offers)}::jsonb) as x (code text, offered jsonb)
    on conflict (peer_id, code) do update set offered = excluded.offered, version = excluded.version,
      compared_epoch = 0, received_at = now()
    where f.version <= excluded.version and f.offered <> excluded.offered
    returning code`.execute(tx);
  if (rows.length === 0) return;
  await compareOffered(tx, peerId);
  await enqueueFieldValues(
    tx,
    peerId,
    rows.map(({ code }) => code),
  );
}

/** Enqueues another use of the values of these fields after their meaning here has changed. */
export async function enqueueFieldValues(tx: Tx, peerId: string, codes: readonly string[]): Promise<void> {
  for (const code of codes)
    await enqueue(
      tx,
      'use-field-values',
      { peer: peerId, code },
      { key: `use-field-values:${peerId}:${code}` },
    );
}
