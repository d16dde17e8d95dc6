import type { DefaultValue, FieldType } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { readableAssets } from '../access/assets.ts';
import type { Caller } from '../access/caller.ts';
import type { Tx } from '../platform/database/pool.ts';
import { Refusal, refuse } from '../platform/http/refuse.ts';
import { checkDefault, termsNamedBy } from './default-value.ts';
import { constraintsOf } from './options.ts';
import { branchesAmong, statusOfTerms } from './term-rows.ts';
import { matchTerms } from './values/terms.ts';
import { readGiven } from './values/typed-value.ts';

/** As much of a field as its defaults depend on. */
export interface Defaulted {
  id: string;
  type: FieldType;
  options: unknown;
  mirrors_column: string | null;
  default_value: DefaultValue | null;
}

/** What checks defaults of a field, knowing the terms that these name as they stand. */
async function checkOf(
  tx: Tx,
  field: Defaulted,
  values: readonly DefaultValue[],
): Promise<(value: DefaultValue) => DefaultValue> {
  const named = values.flatMap((value) => termsNamedBy(field.type, value));
  const standing = {
    type: field.type,
    constraints: constraintsOf(field.type, field.options),
    terms: await statusOfTerms(tx, field.id, named),
    branches: field.type === 'tree' ? await branchesAmong(tx, field.id, named) : new Set<string>(),
  };
  return (value) => {
    const checked = checkDefault(standing, value);
    // What no value could be, as one that is longer or of another year, would stop every creation.
    if (checked.kind !== 'literal') return checked;
    const given = readGiven({ code: 'default_value', type: field.type }, checked);
    // A definition is shown too, so nothing that could run stands in it.
    return field.type === 'rich_text' && given.kind === 'text'
      ? { ...checked, value_text: given.text }
      : checked;
  };
}

/** spec 2.7 rule 1: what names a term by its label, an alias or a former name, as the term's own slug. */
async function inSlugs(tx: Tx, { id, type }: Defaulted, value: DefaultValue): Promise<DefaultValue> {
  const named = termsNamedBy(type, value);
  if (named.length === 0) return value;
  const matches = await matchTerms(
    tx,
    named.map((text) => ({ fieldId: id, text })),
  );
  const slugs = named.map((text, index) => matches[index]?.value ?? text);
  return type === 'multi_select'
    ? { ...value, value_options: slugs }
    : { ...value, value_text: slugs[0] ?? null };
}

/** A default somebody gives, checked against the field's type, options and terms as they stand (spec 4.5). */
export async function checkGivenDefault(
  tx: Tx,
  caller: Caller,
  field: Defaulted,
  value: DefaultValue,
): Promise<DefaultValue> {
  // spec 2.7 rule 10: it holds no value of its own, so a default would never be anybody's.
  if (field.mirrors_column !== null) {
    throw refuse(400, `default_value does not go with mirrors_column (${field.mirrors_column})`);
  }
  const given = await inSlugs(tx, field, value);
  const check = await checkOf(tx, field, [given]);
  const checked = check(given);
  if (checked.value_ref != null) {
    const { rows } = await sql`select from assets a
      where a.id = ${checked.value_ref} and ${readableAssets(caller)}`.execute(tx);
    if (rows.length === 0) throw refuse(400, 'default_value: value_ref names no asset');
  }
  return checked;
}

/** Throws when the default, or a team's own, no longer goes with the field's options and terms. */
export async function checkDefaultsStand(tx: Tx, field: Defaulted): Promise<void> {
  const { rows } = await sql<{ default_value: DefaultValue; name: string }>`
    select o.default_value, t.name from field_default_overrides o join teams t on t.id = o.team_id
    where o.field_id = ${field.id} order by t.name`.execute(tx);
  const own = field.default_value === null ? [] : [field.default_value];
  const check = await checkOf(tx, field, [...own, ...rows.map(({ default_value }) => default_value)]);
  for (const value of own) check(value);
  for (const { default_value, name } of rows) {
    try {
      check(default_value);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw refuse(400, `the default of the team ${name} would no longer hold: ${error.body.error}`);
    }
  }
}
