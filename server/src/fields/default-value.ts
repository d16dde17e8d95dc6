import type { DefaultValue, FieldType } from '@vitrine/contract/fields';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import { refuse } from '../platform/http/refuse.ts';
import { type Constraints, faultOfDate, faultOfItems, faultOfNumber, faultOfText } from './options.ts';
import { cleanHtml, textIn } from './values/rich-text.ts';

const members = ['value_text', 'value_num', 'value_date', 'value_options', 'value_ref'] as const;
export type ValueMember = (typeof members)[number];

/** Which member carries a value of this type (choices, fields). */
export const memberOf: Readonly<Record<FieldType, ValueMember>> = {
  text: 'value_text',
  longtext: 'value_text',
  rich_text: 'value_text',
  select: 'value_text',
  tree: 'value_text',
  number: 'value_num',
  boolean: 'value_num',
  date: 'value_date',
  datetime: 'value_date',
  multi_select: 'value_options',
  reference: 'value_ref',
};

/** spec 2.7, DefaultValue: contexts by the types they apply to. */
const contextTypes: Readonly<Record<NonNullable<DefaultValue['context']>, readonly FieldType[]>> = {
  uploading_user: ['text', 'longtext', 'rich_text'],
  uploading_team: ['text', 'longtext', 'rich_text'],
  current_date: ['date', 'datetime'],
};

export interface DefaultRules {
  type: FieldType;
  constraints: Constraints;
  /** The status of each term the default names, as far as it is a term at all. */
  terms: ReadonlyMap<string, TermStatus>;
  /** Those of them that have narrower terms, so that no value can be one (spec 2.7 rule 1). */
  branches: ReadonlySet<string>;
}

/** The slugs a default names, to be looked up before it is checked. */
export function termsNamedBy(type: FieldType, value: DefaultValue): string[] {
  if (type === 'multi_select') return value.value_options ?? [];
  return (type === 'select' || type === 'tree') && value.value_text != null ? [value.value_text] : [];
}

function checkContext(type: FieldType, value: DefaultValue): void {
  if (value.context === undefined) throw refuse(400, 'default_value: kind context needs a context');
  const literal = members.find((member) => value[member] != null);
  if (literal !== undefined) throw refuse(400, `default_value: ${literal} does not go with kind context`);
  if (!contextTypes[value.context].includes(type)) {
    throw refuse(400, `default_value: ${value.context} does not apply to a field of type ${type}`);
  }
}

function checkTerms({ type, terms, branches }: DefaultRules, named: readonly string[]): void {
  for (const slug of named) {
    const status = terms.get(slug);
    if (status === undefined)
      throw refuse(400, `default_value: "${slug.slice(0, 120)}" is no term of the field`);
    if (status !== 'active') throw refuse(400, `default_value: the term "${slug}" is ${status}`);
    if (branches.has(slug))
      throw refuse(400, `default_value: the term "${slug}" has narrower terms; name one of them`);
  }
  if (type === 'multi_select' && named.length === 0)
    throw refuse(400, 'default_value: value_options is empty');
  const twice = named.find((slug, index) => named.indexOf(slug) !== index);
  if (twice !== undefined) throw refuse(400, `default_value: the term "${twice}" is there twice`);
}

function faultOf({ type, constraints }: DefaultRules, value: DefaultValue): string | null {
  if (value.value_num != null) {
    if (type === 'boolean')
      return value.value_num === 0 || value.value_num === 1 ? null : 'is neither 0 nor 1';
    return faultOfNumber(constraints, value.value_num);
  }
  if (value.value_date != null) return faultOfDate(constraints, value.value_date);
  if (type === 'multi_select') return faultOfItems(constraints, value.value_options?.length ?? 0);
  if (value.value_text != null && memberOf[type] === 'value_text') {
    const text = type === 'rich_text' ? textIn(cleanHtml(value.value_text)) : value.value_text;
    return value.value_text === '' ? 'is empty' : faultOfText(constraints, text);
  }
  return null;
}

/** Throws a 400 that names what is wrong with a default of a field; returns it without members that say nothing. */
export function checkDefault(rules: DefaultRules, value: DefaultValue): DefaultValue {
  const { type } = rules;
  if (value.kind === 'context') {
    checkContext(type, value);
    return { kind: 'context', ...(value.context === undefined ? {} : { context: value.context }) };
  }
  if (value.context !== undefined) throw refuse(400, 'default_value: context does not go with kind literal');
  const member = memberOf[type];
  const other = members.find((one) => one !== member && value[one] != null);
  if (other !== undefined) {
    throw refuse(400, `default_value: ${other} does not go with type ${type}, which takes ${member}`);
  }
  if (value[member] == null) throw refuse(400, `default_value: a literal of type ${type} needs ${member}`);
  checkTerms(rules, termsNamedBy(type, value));
  const fault = faultOf(rules, value);
  if (fault !== null) throw refuse(400, `default_value: ${member} ${fault}`);
  return { kind: 'literal', [member]: value[member] };
}
