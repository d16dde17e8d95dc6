import {
  decidePeerField,
  listPeerFields,
  type PeerField,
  type PeerFieldDecision,
  resetPeerField,
} from '@vitrine/contract/federated-fields';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { showFields } from '../../../content/fields/definitions/read.ts';
import { handle } from '../../../core/handle.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { codeCursor } from '../../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../../platform/http/page.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import type { AaFieldDefinition } from '../protocol/field-definitions.ts';
import { adoptDefinition } from './adopt.ts';
import { differencesOf } from './compare.ts';
import { compareOffered, enqueueFieldValues } from './offered.ts';
import { takes } from './use.ts';

interface OfferedFieldRow {
  code: string;
  offered: AaFieldDefinition;
  decision: PeerFieldDecision['decision'] | null;
  field_id: string | null;
  received_at: string;
  value_count: number;
  unused_count: number;
}

const stateOf = { map: 'mapped', adopt: 'adopted', ignore: 'ignored' } as const;

/** Returns offers of a peer by code, compared with the fields here. A fixed number of statements. */
async function readOffers(
  db: Database,
  peerId: string,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<PeerField[]> {
  const { rows } = await sql<OfferedFieldRow>`
    select f.code, f.offered, f.decision, coalesce(f.field_id, own.id) as field_id, f.received_at,
      count(v.uri) as value_count, count(v.uri) filter (where not exists (
        select from asset_field_values x where x.asset_id = o.local_id and x.field_id = coalesce(f.field_id, own.id)
          and x.set_by = 'import' and f.decision is distinct from 'ignore' and (f.decision is not null or f.agrees)
        union all
        select from collection_field_values x where x.collection_id = o.local_id
          and x.field_id = coalesce(f.field_id, own.id) and x.set_by = 'import'
          and f.decision is distinct from 'ignore' and (f.decision is not null or f.agrees))) as unused_count
    from federation_fields f left join fields own on own.code = f.code
      left join (federated_values v join federated_objects o on o.uri = v.uri) on v.code = f.code and o.peer_id = f.peer_id
    where f.peer_id = ${peerId} and ${which}
    group by f.peer_id, f.code, own.id order by f.code ${rest}`.execute(db);
  const ids = rows.flatMap(({ field_id }) => (field_id === null ? [] : [field_id]));
  const fields = new Map(
    (await showFields(db, sql`d.id = any(${ids}::uuid[])`)).map((field) => [field.id, field]),
  );
  return rows.map(({ code, offered, decision, field_id, ...counts }) => {
    const field = field_id === null ? undefined : fields.get(field_id);
    const differences = field === undefined ? [] : differencesOf(field, offered);
    const differs = differences.some((difference) => difference.decisive);
    return {
      code,
      label: offered.label,
      type: offered.field_type,
      subject_kind: offered.subject_kind,
      state:
        decision !== null ? stateOf[decision] : field === undefined ? 'new' : differs ? 'differs' : 'same',
      field: field === undefined ? null : { id: field.id, code: field.code, label: field.label },
      differences,
      ...counts,
    };
  });
}

async function readOffer(db: Database, peerId: string, code: string): Promise<PeerField> {
  const [offer] = await readOffers(db, peerId, sql`f.code = ${code}`);
  if (offer === undefined) throw notFound();
  return offer;
}

export const list = handle(listPeerFields, async ({ db }, { params, query }) => {
  const peers = await db.selectFrom('federation_peers').where('id', '=', params.id).execute();
  if (peers.length === 0) throw notFound();
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = codeCursor.read(query.cursor)?.code ?? '';
  const offers = await readOffers(db, params.id, sql`f.code > ${after}`, sql`limit ${limit + 1}`);
  return { status: 200, body: cutPage(offers, limit, (last) => codeCursor.after(last)) };
});

interface Offer {
  offered: AaFieldDefinition;
  instance_url: string;
}

/**
 * Locks a peer and then its offer, in the order in which envelopes are received; throws 404 for an unknown
 * offer.
 */
async function lockOffer(tx: Tx, peerId: string, code: string): Promise<Offer> {
  await tx.selectFrom('federation_peers').where('id', '=', peerId).forNoKeyUpdate().execute();
  const { rows } = await sql<Offer>`select f.offered, pe.instance_url from federation_fields f
    join federation_peers pe on pe.id = f.peer_id
    where f.peer_id = ${peerId} and f.code = ${code} for no key update of f`.execute(tx);
  if (rows[0] === undefined) throw notFound();
  return rows[0];
}

/** Returns the field here that values are mapped to; throws 409 if it cannot store them. */
async function mappedField(
  tx: Tx,
  code: string,
  offered: AaFieldDefinition,
  id: string | null,
): Promise<string> {
  const [field] = await showFields(tx, id === null ? sql`d.code = ${code}` : sql`d.id = ${id}`);
  if (field === undefined || field.status === 'archived')
    throw id === null ? refuse('offer-code-not-found', { code }) : refuse('offer-field-not-found');
  if (field.mirrors_column !== null)
    throw refuse('offer-field-mirrors', { field: field.code, column: field.mirrors_column });
  if (field.subject_kind !== offered.subject_kind)
    throw refuse('offer-field-of-other-kind', { field: field.code, kind: field.subject_kind });
  if (!takes(field.type, offered.field_type))
    throw refuse('offer-type-mismatch', { type: field.type, offered: offered.field_type });
  return field.id;
}

/** Returns the field that receives the values under this decision; null if none. */
async function targetOf(
  tx: Tx,
  caller: SignedIn,
  code: string,
  { offered }: Offer,
  body: PeerFieldDecision,
): Promise<string | null> {
  if (body.decision === 'ignore') return null;
  if (body.decision === 'map') return mappedField(tx, code, offered, body.field_id ?? null);
  return adoptDefinition(tx, caller, offered, { code: body.code ?? code, isNew: body.code != null });
}

/** Decides how a peer's field is used (FED-63). A job then updates its values. */
export const decide = handle(decidePeerField, async ({ db }, { caller, params, body }) => {
  if (body.field_id != null && body.decision !== 'map') throw refuse('field-id-requires-map');
  if (body.code != null && body.decision !== 'adopt') throw refuse('code-requires-adopt');
  const { id, code } = params;
  const shown = await db.transaction().execute(async (tx) => {
    const offer = await lockOffer(tx, id, code);
    const fieldId = await targetOf(tx, caller, code, offer, body);
    await tx
      .updateTable('federation_fields')
      .set({
        decision: body.decision,
        field_id: fieldId,
        decided_by_user_ref: caller.ref,
        decided_at: sql<string>`now()`,
      })
      .where('peer_id', '=', id)
      .where('code', '=', code)
      .execute();
    await recordEvent(tx, caller, {
      event: `federation.field.${stateOf[body.decision]}`,
      ...(fieldId === null ? {} : { target: { kind: 'field', id: fieldId } }),
      metadata: { instance_url: offer.instance_url, code },
    });
    await enqueueFieldValues(tx, id, [code]);
    return readOffer(tx, id, code);
  });
  return { status: 200, body: shown };
});

export const reset = handle(resetPeerField, async ({ db }, { caller, params }) => {
  const { id, code } = params;
  await db.transaction().execute(async (tx) => {
    const { instance_url } = await lockOffer(tx, id, code);
    await tx
      .updateTable('federation_fields')
      .set({ decision: null, field_id: null, decided_by_user_ref: null, decided_at: null, compared_epoch: 0 })
      .where('peer_id', '=', id)
      .where('code', '=', code)
      .execute();
    await compareOffered(tx, id);
    await recordEvent(tx, caller, { event: 'federation.field.reset', metadata: { instance_url, code } });
    await enqueueFieldValues(tx, id, [code]);
  });
  return { status: 204 };
});
