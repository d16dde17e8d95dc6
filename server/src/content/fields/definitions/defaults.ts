import {
  type Constraints,
  type FieldType,
  factsOf,
  hasVocabulary,
  holdsSeveral,
  isNested,
  valueMembers,
} from '@vitrine/contract/field-types';
import type { DefaultValue } from '@vitrine/contract/fields';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import { sql } from 'kysely';
import { readableAssets } from '../../../access/assets.ts';
import type { Caller } from '../../../access/caller.ts';
import { liveTeam } from '../../../access/teams.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { Refusal, refuse } from '../../../platform/http/refuse.ts';
import { rulesOf } from '../types/registry.ts';
import { readGiven } from '../values/read-given.ts';
import { constraintsOf } from '../values/rules.ts';
import { branchesAmong, matchTerms, statusOfTerms } from '../vocabulary/terms.ts';

interface DefaultRules {
  type: FieldType;
  constraints: Constraints;
  /** The status of each named slug that is a term. */
  terms: ReadonlyMap<string, TermStatus>;
  /** Those that have narrower terms and therefore cannot be values (TERM-5). */
  branches: ReadonlySet<string>;
}

/** The slugs that a default names; look them up before checking the default. */
function termsNamedBy(type: FieldType, { value_options, value_text }: DefaultValue): readonly string[] {
  if (holdsSeveral(type)) return value_options ?? [];
  return hasVocabulary(type) && value_text != null ? [value_text] : [];
}

function checkContext(type: FieldType, value: DefaultValue): void {
  if (value.context === undefined) throw refuse('default-context-missing');
  const literal = valueMembers.find((member) => value[member] != null);
  if (literal !== undefined) throw refuse('default-literal-not-allowed', { member: literal });
  if (!factsOf[type].contexts.includes(value.context)) {
    throw refuse('default-context-not-for-type', { context: value.context, type });
  }
}

function checkTerms({ type, terms, branches }: DefaultRules, named: readonly string[]): void {
  for (const slug of named) {
    const status = terms.get(slug);
    if (status === undefined) throw refuse('default-term-not-found', { term: slug.slice(0, 120) });
    if (status !== 'active') throw refuse('default-term-not-active', { term: slug, status });
    if (branches.has(slug)) throw refuse('default-term-has-narrower', { term: slug });
  }
  if (holdsSeveral(type) && named.length === 0) throw refuse('default-terms-missing');
  const twice = named.find((slug, index) => named.indexOf(slug) !== index);
  if (twice !== undefined) throw refuse('default-term-repeated', { term: twice });
}

/** Throws a 400 that names the fault in a default; returns the default without empty members. */
function checkDefault(rules: DefaultRules, value: DefaultValue): DefaultValue {
  const { type } = rules;
  if (value.kind === 'context') {
    checkContext(type, value);
    return { kind: 'context', ...(value.context === undefined ? {} : { context: value.context }) };
  }
  if (value.context !== undefined) throw refuse('default-context-not-allowed');
  const { member } = factsOf[type];
  const other = valueMembers.find((name) => name !== member && value[name] != null);
  if (other !== undefined) {
    throw refuse('default-in-other-member', { other, type, member });
  }
  if (value[member] == null) throw refuse('default-literal-missing', { type, member });
  checkTerms(rules, termsNamedBy(type, value));
  if (value[member] === '') throw refuse('default-empty', { member });
  // A default that no value may have, such as one that is too long, would make every creation fail.
  const given = readGiven({ code: 'default_value', type }, { [member]: value[member] });
  const fault = rulesOf[type].faultOf(rules.constraints, given);
  if (fault !== null) {
    const { kind, limit } = fault;
    throw refuse(`default-${kind}`, { member, ...(limit === undefined ? {} : { limit }) });
  }
  // Forms show the default, so it must not contain scripts.
  return { kind: 'literal', [member]: given.kind === 'text' ? given.text : value[member] };
}

/** The columns of a field that its defaults depend on. */
export interface Defaulted {
  id: string;
  type: FieldType;
  options: unknown;
  mirrors_column: string | null;
  default_value: DefaultValue | null;
}

/** Returns a function that checks defaults of a field against its options and current terms. */
async function checkOf(
  tx: Tx,
  field: Defaulted,
  values: readonly DefaultValue[],
): Promise<(value: DefaultValue) => DefaultValue> {
  const named = values.flatMap((value) => termsNamedBy(field.type, value));
  const definitionState = {
    type: field.type,
    constraints: constraintsOf(field.type, field.options),
    terms: await statusOfTerms(tx, field.id, named),
    branches: isNested(field.type) ? await branchesAmong(tx, field.id, named) : new Set<string>(),
  };
  return (value) => checkDefault(definitionState, value);
}

/** FIELD-35: replaces labels, aliases and former names of terms by their slugs. */
async function inSlugs(tx: Tx, { id, type }: Defaulted, value: DefaultValue): Promise<DefaultValue> {
  const named = termsNamedBy(type, value);
  if (named.length === 0) return value;
  const matches = await matchTerms(
    tx,
    named.map((text) => ({ fieldId: id, text })),
  );
  const slugs = named.map((text, index) => matches[index]?.value ?? text);
  return holdsSeveral(type) ? { ...value, value_options: slugs } : { ...value, value_text: slugs[0] ?? null };
}

/** Checks a new default against the field's type, options and current terms (FIELD-31), and resolves its terms. */
export async function checkGivenDefault(
  tx: Tx,
  caller: Caller,
  field: Defaulted,
  value: DefaultValue,
): Promise<DefaultValue> {
  // FIELD-18: the field has no values of its own, so nothing would use the default.
  if (field.mirrors_column !== null) {
    throw refuse('mirrored-column', { property: 'default_value', column: field.mirrors_column });
  }
  const given = await inSlugs(tx, field, value);
  const check = await checkOf(tx, field, [given]);
  const checked = check(given);
  if (checked.value_ref != null) {
    const { rows } = await sql`select from assets a
      where a.id = ${checked.value_ref} and ${readableAssets(caller)}`.execute(tx);
    if (rows.length === 0) throw refuse('default-asset-not-found');
  }
  return checked;
}

/** Throws a 400 when the field's default or a team's override conflicts with new options or terms. */
export async function checkDefaultsRemainValid(tx: Tx, field: Defaulted): Promise<void> {
  const { rows } = await sql<{ default_value: DefaultValue; name: string }>`
    select o.default_value, t.name from field_default_overrides o join teams t on t.id = o.team_id
    where o.field_id = ${field.id} and ${liveTeam} order by t.name`.execute(tx);
  const own = field.default_value === null ? [] : [field.default_value];
  const check = await checkOf(tx, field, [...own, ...rows.map(({ default_value }) => default_value)]);
  for (const value of own) check(value);
  for (const { default_value, name } of rows) {
    try {
      check(default_value);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw refuse('default-of-team-invalid', { team: name, reason: error.sentence });
    }
  }
}
