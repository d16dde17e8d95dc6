import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import { type Caller, holds } from './caller.ts';

/**
 * Who reads and writes the values of which field (VALUE-2, VALUE-8). Predicates speak of a definition `fields d` and, where
 * the subject is an asset, of its row `assets a`: a capability held in a team counts for that team's assets. Whose
 * asset or collection it is, is decided by their own pages.
 */
type Predicate = RawBuilder<boolean>;

export type SubjectKind = 'asset' | 'collection';

function held(caller: Caller, column: 'read_capability' | 'write_capability', kind: SubjectKind): Predicate {
  return holdsCode(caller, sql.ref(`d.${column}`), kind);
}

/** Whether the caller holds the capability of this code, if there is one: everywhere, or for the asset's team. */
export function holdsCode(caller: Caller, code: RawBuilder<unknown>, kind: SubjectKind): Predicate {
  if (holds(caller, 'system.admin')) return sql`true`;
  if (caller.kind === 'anonymous') return sql`(${code} is null)`;
  const everywhere: Predicate = sql`(${code} is null or ${code} = any(${[...caller.capabilities]}::text[]))`;
  if (kind === 'collection' || caller.teamCapabilities.size === 0) return everywhere;
  const inTeams = [...caller.teamCapabilities].flatMap(([held, teams]) => teams.map((team) => [held, team]));
  // `is true`: an asset without a team makes the comparison NULL, which is neither yes nor no.
  return sql`((${everywhere} or (${code}, a.team_id) in (
    select * from unnest(${inTeams.map(([held]) => held)}::text[], ${inTeams.map(([, team]) => team)}::uuid[]))) is true)`;
}

/** Fields of this kind of subject that the caller may know of, archived ones included. */
export function knownFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.subject_kind = ${kind} and ${held(caller, 'read_capability', kind)})`;
}

/** Fields whose values are shown: a deprecated field's still, an archived one's no more (FIELD-7). */
export function readableFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.status <> 'archived' and ${knownFields(caller, kind)})`;
}

/** Fields the caller may write as far as `write_capability` says; a mirrored column is gated by its asset alone. */
export function writableFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.mirrors_column is not null or ${held(caller, 'write_capability', kind)})`;
}

/** Fields whose values may be looked for and shown on cards: active ones (VALUE-13, VALUE-18). */
export function filterableFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.status = 'active' and ${knownFields(caller, kind)})`;
}

/** Fields the caller may look for on some asset at least; on which, is for filterableFields to say. */
export function filterableSomewhere(caller: Caller, kind: SubjectKind): Predicate {
  const active = sql`d.status = 'active' and d.subject_kind = ${kind}`;
  if (holds(caller, 'system.admin')) return sql`(${active})`;
  if (caller.kind === 'anonymous') return sql`(${active} and d.read_capability is null)`;
  const codes = [...caller.capabilities, ...(kind === 'asset' ? caller.teamCapabilities.keys() : [])];
  return sql`(${active} and (d.read_capability is null or d.read_capability = any(${codes}::text[])))`;
}

/** VALUE-18: what a card shows is for everybody who is shown the asset. */
export const cardFields: Predicate = sql`(d.status = 'active' and d.subject_kind = 'asset' and d.show_on_card
  and d.read_capability is null and d.mirrors_column is null)`;

/** Assets of the types the field is for; none named means all (FIELD-6). */
export const appliesToAsset: Predicate = sql`(d.applies_to = '{}' or a.asset_type = any(d.applies_to))`;

/** No reference, or one to an asset the caller is shown; any other is as if there were no value. */
export function disclosedReference(caller: Caller, reference: RawBuilder<unknown>): Predicate {
  return sql`(${reference} is null or exists (
    select from assets a where a.id = ${reference} and ${shownAssets(caller)}))`;
}
