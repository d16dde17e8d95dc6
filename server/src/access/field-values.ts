import { type FieldType, fieldTypes, hasVocabulary } from '@vitrine/contract/field-types';
import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import { type Caller, holds } from './caller.ts';

/**
 * Who reads and writes the values of which field (VALUE-2, VALUE-8). Predicates refer to a definition `fields d` and,
 * if the subject is an asset, to its row `assets a`: a capability held in a team applies to that team's assets. Access
 * to the asset or collection itself is decided in assets.ts and collections.ts.
 */
type Predicate = RawBuilder<boolean>;

export type SubjectKind = 'asset' | 'collection';

/** Fields of these types. */
export function ofType(types: readonly FieldType[]): Predicate {
  return sql`(d.type in (${sql.join(types.map((type) => sql.lit(type)))}))`;
}

/** Fields whose values are terms. */
export const ofVocabulary = ofType(fieldTypes.filter(hasVocabulary));

function held(caller: Caller, column: 'read_capability' | 'write_capability', kind: SubjectKind): Predicate {
  return holdsCode(caller, sql.ref(`d.${column}`), kind);
}

/** Whether the caller holds the capability of this code, if any: everywhere, or for the asset's team. */
export function holdsCode(caller: Caller, code: RawBuilder<unknown>, kind: SubjectKind): Predicate {
  if (holds(caller, 'system.admin')) return sql`true`;
  if (caller.kind === 'anonymous') return sql`(${code} is null)`;
  const everywhere: Predicate = sql`(${code} is null or ${code} = any(${[...caller.capabilities]}::text[]))`;
  if (kind === 'collection' || caller.teamCapabilities.size === 0) return everywhere;
  const inTeams = [...caller.teamCapabilities].flatMap(([held, teams]) => teams.map((team) => [held, team]));
  // `is true`: without a team the comparison is NULL.
  return sql`((${everywhere} or (${code}, a.team_id) in (
    select * from unnest(${inTeams.map(([held]) => held)}::text[], ${inTeams.map(([, team]) => team)}::uuid[]))) is true)`;
}

/** Fields of this kind of subject that the caller may know of, including archived ones. */
export function knownFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.subject_kind = ${kind} and ${held(caller, 'read_capability', kind)})`;
}

/** FIELD-7: fields whose values are shown: deprecated ones included, archived ones not. */
export function readableFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.status <> 'archived' and ${knownFields(caller, kind)})`;
}

/** Fields the caller may write by `write_capability`; a mirrored column depends on its asset only. */
export function writableFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.mirrors_column is not null or ${held(caller, 'write_capability', kind)})`;
}

/** Active fields, whose values can be filtered by and shown on cards (VALUE-13, VALUE-18). */
export function filterableFields(caller: Caller, kind: SubjectKind): Predicate {
  return sql`(d.status = 'active' and ${knownFields(caller, kind)})`;
}

/** Those of these fields whose values the caller may read on at least some assets or collections. */
function somewhere(caller: Caller, kind: SubjectKind, fields: Predicate): Predicate {
  if (holds(caller, 'system.admin')) return fields;
  if (caller.kind === 'anonymous') return sql`(${fields} and d.read_capability is null)`;
  const codes = [...caller.capabilities, ...(kind === 'asset' ? caller.teamCapabilities.keys() : [])];
  return sql`(${fields} and (d.read_capability is null or d.read_capability = any(${codes}::text[])))`;
}

/** Fields the caller may filter by on at least some assets; filterableFields decides on which. */
export function filterableSomewhere(caller: Caller, kind: SubjectKind): Predicate {
  return somewhere(caller, kind, sql`(d.status = 'active' and d.subject_kind = ${kind})`);
}

/** Fields whose values the caller may read on at least some assets; readableFields decides on which (CSV-2). */
export function readableSomewhere(caller: Caller, kind: SubjectKind): Predicate {
  return somewhere(caller, kind, sql`(d.status <> 'archived' and d.subject_kind = ${kind})`);
}

/** VALUE-18: cards show a value only if everyone who sees the asset may read it. */
export const cardFields: Predicate = sql`(d.status = 'active' and d.subject_kind = 'asset' and d.show_on_card
  and d.read_capability is null and d.mirrors_column is null)`;

/** Assets of the field's types; none named means all (FIELD-6). */
export const appliesToAsset: Predicate = sql`(d.applies_to = '{}' or a.asset_type = any(d.applies_to))`;

/** No reference, or one to an asset that the caller is shown; any other counts as no value. */
export function disclosedReference(caller: Caller, reference: RawBuilder<unknown>): Predicate {
  return sql`(${reference} is null or exists (
    select from assets a where a.id = ${reference} and ${shownAssets(caller)}))`;
}
