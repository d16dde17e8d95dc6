import { isNested } from '@vitrine/contract/field-types';
import type { GivenValue, SetBy } from '@vitrine/contract/field-values';
import { DefaultValue } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { knownFields, writableFields } from '../../../access/field-values.ts';
import { displayName } from '../../../access/identities.ts';
import { liveTeam } from '../../../access/teams.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { rulesOf } from '../types/registry.ts';
import { matchTerms } from '../vocabulary/terms.ts';
import { readFitting, readGiven } from './read-given.ts';
import {
  type CallersDefinition,
  checkContent,
  checkItems,
  checkWritable,
  type Definition,
  definitionColumns,
  holdDefinitions,
} from './rules.ts';
import { appliesTo, definitionsFor, type Subject, subjectColumn, valuesTable } from './store.ts';
import { columnsOf, membersOf, type TypedValue, termsOf, withTerms } from './typed-value.ts';
import { checkReferences, createsTerms, resolveTerms, setByOf, setColumn } from './write.ts';

/** Values given with a new asset or collection, and the caller who gives them. */
export interface GivenValues {
  caller: SignedIn;
  values: readonly GivenValue[];
}

/** A value to insert for a new subject. */
interface Seed {
  field: Definition;
  value: TypedValue;
  setBy: SetBy;
  userRef: number | null;
}

/** Finds the field of each given value. 404 for a field the caller may not know of, 400 for one given twice. */
function placed(
  values: readonly GivenValue[],
  fields: readonly CallersDefinition[],
): Map<GivenValue, CallersDefinition> {
  const found = new Map<GivenValue, CallersDefinition>();
  for (const given of values) {
    const { field_id, field_code } = given;
    if ((field_id === undefined) === (field_code === undefined)) throw refuse('value-field-unclear');
    const field = fields.find(({ id, code }) => id === field_id?.toLowerCase() || code === field_code);
    if (field === undefined) throw refuse('value-field-not-found', { field: field_id ?? field_code ?? '' });
    if ([...found.values()].includes(field)) throw refuse('given-twice', { property: field.code });
    found.set(given, field);
  }
  return found;
}

/**
 * Checks given values like any write (VALUE-19). Only a new collection may get values of a read-only field
 * (FIELD-17).
 */
async function givenSeeds(tx: Tx, subject: Subject, { caller, values }: GivenValues): Promise<Seed[]> {
  if (values.length === 0) return [];
  const wanted = {
    ids: values.flatMap(({ field_id }) => field_id ?? []),
    codes: values.flatMap(({ field_code }) => field_code ?? []),
  };
  const known = await tx
    .selectFrom('fields')
    .select(['id', 'code', 'type', 'open_vocabulary'])
    .where((eb) =>
      eb.or([
        eb('id', '=', sql<string>`any(${wanted.ids}::uuid[])`),
        eb('code', '=', sql<string>`any(${wanted.codes}::text[])`),
      ]),
    )
    .execute();
  const naming = values.flatMap(({ field_id, field_code, value_options: options }) => {
    const field = known.find(({ id, code }) => id === field_id?.toLowerCase() || code === field_code);
    return field === undefined || options == null
      ? []
      : [{ field, value: { kind: 'options' as const, options } }];
  });
  const hold = (await createsTerms(tx, naming)) ? 'terms' : 'share';
  const fields = placed(values, await holdDefinitions(tx, caller, subject, wanted, hold));
  const meant = [...fields].map(([given, field]) => {
    checkWritable(field, { seeds: subject.kind === 'collection' });
    const value = readGiven(field, given);
    checkContent(field, value);
    return { field, value, before: null };
  });
  await checkReferences(tx, caller, meant);
  const resolved = await resolveTerms(tx, caller, meant);
  return meant.map(({ field, value: named }, index) => {
    const value = resolved[index] ?? named;
    checkItems(field, value);
    return { field, value, setBy: setByOf(caller), userRef: caller.ref };
  });
}

interface DefaultRow extends Definition {
  default_value: unknown;
}

/** The values of contexts at this creation (FIELD-33); null where a context does not apply. */
interface Contexts {
  uploading_user: string | null;
  uploading_team: string | null;
}

const asDefault = compileLater(DefaultValue);

/**
 * Everyone who sees the asset reads its values, so a default contains only names that anonymous visitors may read.
 */
const stranger = { kind: 'anonymous' } as const;

async function readContexts(tx: Tx, ownerRef: number): Promise<Contexts> {
  const { rows } = await sql<Contexts>`
    select ${displayName(stranger, 'u')} as uploading_user, (
      select min(t.name) from team_members m join teams t on t.id = m.team_id and ${liveTeam}
      where m.user_ref = u.ref having count(*) = 1) as uploading_team
    from users u where u.ref = ${ownerRef}`.execute(tx);
  return rows[0] ?? { uploading_user: null, uploading_team: null };
}

/**
 * Returns the current value of a default; null when its context does not apply. A default that the database rejects
 * must not make every creation fail.
 */
function defaultOf(field: DefaultRow, contexts: Contexts | null): TypedValue | null {
  const given = field.default_value;
  if (!asDefault().Check(given)) return null;
  const { kind, context, ...literal } = given;
  if (kind === 'literal') return readFitting(field, literal);
  const rules = rulesOf[field.type];
  if (context === 'current_date') return rules.ofContext({ now: new Date().toISOString() });
  const name = context === undefined ? null : (contexts?.[context] ?? null);
  return name === null ? null : rules.ofContext({ name });
}

/**
 * FIELD-32, FIELD-34: returns defaults of fields that got no value. A team's override precedes the field's default. A
 * merged term resolves to its successor; a term that can no longer be chosen is omitted.
 */
async function defaultSeeds(
  tx: Tx,
  subject: Subject,
  ownerRef: number,
  given: readonly Seed[],
): Promise<Seed[]> {
  const override =
    subject.kind === 'asset'
      ? sql`(select o.default_value from field_default_overrides o where o.field_id = d.id and o.team_id = a.team_id)`
      : sql`null::jsonb`;
  const effectiveDefault = sql`coalesce(${override}, d.default_value)`;
  // Locks the definitions until the values are written, so that a merge cannot leave its source in a value.
  const { rows } = await sql<DefaultRow>`
    select ${definitionColumns(subject)}, ${effectiveDefault} as default_value
    from ${definitionsFor(subject)}
    where d.status = 'active' and d.subject_kind = ${subject.kind} and d.mirrors_column is null
      and ${appliesTo(subject.kind)} and d.id <> all(${given.map(({ field }) => field.id)}::uuid[])
      and ${effectiveDefault} is not null order by d.id for key share of d`.execute(tx);
  if (rows.length === 0) return [];
  const asksWho = rows.some(
    ({ default_value: value }) => asDefault().Check(value) && value.kind === 'context',
  );
  const contexts = asksWho ? await readContexts(tx, ownerRef) : null;
  const meant = rows.flatMap((field) => {
    const value = defaultOf(field, contexts);
    return value === null ? [] : [{ field, value }];
  });
  const named = meant.flatMap(({ field, value }) =>
    termsOf(field, value).map((text) => ({ fieldId: field.id, text })),
  );
  const matches = await matchTerms(tx, named);
  let next = 0;
  return meant.flatMap(({ field, value }) => {
    const count = termsOf(field, value).length;
    const found = matches.slice(next, next + count);
    next += count;
    const slugs = found.flatMap((match) =>
      match !== null && match.status === 'active' && (!isNested(field.type) || match.isLeaf)
        ? [match.value]
        : [],
    );
    if (count > 0 && slugs.length === 0) return [];
    return [{ field, value: withTerms(value, slugs), setBy: 'default' as const, userRef: null }];
  });
}

/** Inserts the values of a new subject, and the history of those that people gave. */
async function insertSeeds(tx: Tx, { kind, id }: Subject, seeds: readonly Seed[]): Promise<void> {
  if (seeds.length === 0) return;
  const rows = seeds.map(({ field, value, setBy, userRef }) => {
    const { value_text, value_num, value_date, value_offset, value_options, value_ref } = columnsOf(value);
    return sql`(${id}::uuid, ${field.id}::uuid, ${value_text}::text, ${value_num}::double precision,
      ${value_date}::timestamptz, ${value_offset}::smallint, ${value_options}::text[], ${value_ref}::uuid, ${setBy}::text, ${userRef}::bigint)`;
  });
  await sql`insert into ${valuesTable(kind)} (${subjectColumn(kind)}, field_id, value_text, value_num, value_date, value_offset,
    value_options, value_ref, set_by, set_by_user_ref) values ${sql.join(rows)}`.execute(tx);
  const byPeople = seeds.filter(({ setBy }) => setBy !== 'default');
  if (byPeople.length === 0) return;
  await tx
    .insertInto('field_value_history')
    .values(
      byPeople.map(({ field, value, setBy, userRef }) => ({
        subject_kind: kind,
        subject_id: id,
        field_id: field.id,
        after: JSON.stringify(membersOf(columnsOf(value))),
        set_by: setBy,
        actor_user_ref: userRef,
        at: sql<string>`now()`,
      })),
    )
    .execute();
}

/**
 * Inserts given values and defaults of a new subject, in the transaction that creates it. Returns the ids of fields
 * that now have a value.
 */
export async function seedValues(
  tx: Tx,
  subject: Subject,
  ownerRef: number,
  given: GivenValues | null,
): Promise<ReadonlySet<string>> {
  const seeds = given === null ? [] : await givenSeeds(tx, subject, given);
  for (const { field, value } of seeds) {
    if (field.mirrors_column !== null) await setColumn(tx, subject, field, value);
  }
  const own = seeds.filter(({ field }) => field.mirrors_column === null);
  const all = [...own, ...(await defaultSeeds(tx, subject, ownerRef, seeds))];
  await insertSeeds(tx, subject, all);
  return new Set(all.map(({ field }) => field.id));
}

/** Returns whether any field of assets has a default. Those that archived fields have are among them. */
export async function hasDefaults(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`select exists (select from fields where subject_kind = 'asset'
    and default_value is not null) or exists (select from field_default_overrides) as some`.execute(tx);
  return rows[0]?.some === true;
}

/** Gives new assets the defaults of fields; all of them have the same ones, because they are alike in what these depend on. */
export async function seedAlike(
  tx: Tx,
  ownerRef: number,
  first: string,
  others: readonly string[],
): Promise<void> {
  const filled = await seedValues(tx, { kind: 'asset', id: first }, ownerRef, null);
  if (filled.size === 0 || others.length === 0) return;
  await sql`insert into asset_field_values (asset_id, field_id, value_text, value_num, value_date, value_offset,
      value_options, value_ref, set_by, set_by_user_ref)
    select o.id, v.field_id, v.value_text, v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref,
      v.set_by, v.set_by_user_ref
    from unnest(${[...others]}::uuid[]) o (id) cross join asset_field_values v where v.asset_id = ${first}`.execute(
    tx,
  );
}

/**
 * COLLECTION-15: throws a 422 that names the required fields of a new collection without a value. Skips fields that
 * the caller cannot read or write.
 */
export async function checkRequired(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  filled: ReadonlySet<string>,
): Promise<void> {
  const { rows } = await sql<{ code: string }>`
    select d.code from ${definitionsFor(subject)}
    where d.required and d.status = 'active' and ${knownFields(caller, subject.kind)}
      and ${writableFields(caller, subject.kind)} and ${appliesTo(subject.kind)}
      and d.id <> all(${[...filled]}::uuid[])
    order by d.display_order, d.code`.execute(tx);
  if (rows.length > 0) throw refuse('fields-required', { missing: rows.map(({ code }) => code) });
}
