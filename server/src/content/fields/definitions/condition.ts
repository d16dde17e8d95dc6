import { type FieldType, type FilterOperator, factsOf, holdsSeveral } from '@vitrine/contract/field-types';
import type { SubjectKind } from '@vitrine/contract/fields';
import { refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { listedWithAnd } from './flags.ts';

/** One term of a display condition (FIELD-24). */
export interface ConditionTerm {
  code: string;
  operator: FilterOperator;
  value: string;
}

/** In order of length, so that `>=` is tried before `>`. */
const operators = ['>=', '<=', '=', '~', '<', '>'] as const;

/** Splits a term at its first operator; null when the operator, the code or the value is missing. */
export function readTerm(text: string): ConditionTerm | null {
  const at = text.search(/[=~<>]/);
  const operator = operators.find((symbol) => text.startsWith(symbol, at));
  if (at === -1 || operator === undefined) return null;
  const code = text.slice(0, at).trim().toLowerCase();
  const value = text.slice(at + operator.length).trim();
  return code === '' || value === '' ? null : { code, operator, value };
}

/** Whether a controlling field of this type supports the operator of a term. */
function supports(type: FieldType, { operator }: ConditionTerm): boolean {
  return factsOf[type].conditions.some((allowed) => allowed === operator);
}

/** The columns of a definition that conditions depend on. */
export interface Controller {
  code: string;
  type: FieldType;
  subject_kind: SubjectKind;
  status: string;
  display_condition: readonly string[] | null;
}

function checkTerm(text: string, owner: Controller, fields: ReadonlyMap<string, Controller>): ConditionTerm {
  const named = text.slice(0, 200);
  const term = readTerm(text);
  if (term === null) throw refuse('condition-malformed', { term: named });
  const { code, operator } = term;
  if (operator === '>=' || operator === '<=')
    throw refuse('condition-operator-not-allowed', { term: named, operator });
  if (code === owner.code) throw refuse('condition-of-itself', { term: named });
  const controller = fields.get(code);
  if (controller === undefined || controller.status === 'archived') {
    throw refuse('condition-field-not-found', { term: named, field: code.slice(0, 80) });
  }
  if (controller.subject_kind !== owner.subject_kind) {
    throw refuse('condition-of-other-kind', { term: named, field: code, kind: controller.subject_kind });
  }
  const allowed = factsOf[controller.type].conditions;
  if (!supports(controller.type, term)) {
    const instead = listedWithAnd(allowed) ?? sentence('none');
    throw refuse('condition-operator-not-for-type', {
      term: named,
      type: controller.type,
      allowed: instead,
      operator,
    });
  }
  return term;
}

/** Whether no single value satisfies both terms, which name the same field. */
function excludeEachOther(a: ConditionTerm, b: ConditionTerm): boolean {
  if (a.operator === '=' && b.operator === '=') return a.value !== b.value;
  const [equal, part] = a.operator === '=' ? [a, b] : [b, a];
  if (equal.operator !== '=' || part.operator !== '~') return false;
  return !equal.value.toLowerCase().includes(part.value.toLowerCase());
}

function checkContradictions(terms: readonly ConditionTerm[], fields: ReadonlyMap<string, Controller>): void {
  for (const [index, a] of terms.entries()) {
    const type = fields.get(a.code)?.type;
    if (type !== undefined && holdsSeveral(type)) continue;
    const b = terms.slice(index + 1).find((term) => term.code === a.code && excludeEachOther(a, term));
    if (b === undefined) continue;
    throw refuse('condition-contradictory', {
      term: `${a.code}${a.operator}${a.value}`,
      other: `${b.code}${b.operator}${b.value}`,
    });
  }
}

/** Returns the path from a field through conditions of other fields back to itself, or null. */
function circleFrom(
  start: string,
  terms: readonly ConditionTerm[],
  fields: ReadonlyMap<string, Controller>,
): readonly string[] | null {
  const seen = new Set<string>();
  const ways = terms.map(({ code }) => [start, code]);
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const last = way.at(-1) ?? start;
    if (last === start) return way;
    if (seen.has(last)) continue;
    seen.add(last);
    for (const text of fields.get(last)?.display_condition ?? []) {
      const term = readTerm(text);
      if (term !== null) ways.push([...way, term.code]);
    }
  }
  return null;
}

/** Throws a 400 that names the fault in the condition of `owner`; `fields` are all definitions by code. */
export function checkCondition(
  owner: Controller,
  condition: readonly string[],
  fields: ReadonlyMap<string, Controller>,
): void {
  if (condition.length === 0) {
    throw refuse('condition-empty');
  }
  if (condition.length > 20) throw refuse('condition-too-many-terms');
  const long = condition.find((text) => text.length > 500);
  if (long !== undefined) throw refuse('condition-term-too-long', { term: long.slice(0, 60) });
  const terms = condition.map((text) => checkTerm(text, owner, fields));
  checkContradictions(terms, fields);
  const circle = circleFrom(owner.code, terms, fields);
  if (circle !== null) throw refuse('condition-in-cycle', { cycle: circle.join(' > ') });
}

/** A controlling field with its value for one subject: slugs or text, or null when it has none. */
export interface ControllerValue {
  type: FieldType;
  value: string | readonly string[] | null;
}

function isTrue({ operator, value }: ConditionTerm, { value: stored }: ControllerValue): boolean {
  if (stored === null) return false;
  if (typeof stored !== 'string') return stored.includes(value);
  return operator === '~' ? stored.toLowerCase().includes(value.toLowerCase()) : stored === value;
}

/**
 * Decides whether a form offers the field. `controllerOf` returns undefined for a field that is missing or that the
 * caller may not read. A condition with such a term has no verdict, and the form offers the field.
 */
export function evaluateCondition(
  condition: readonly string[] | null,
  controllerOf: (code: string) => ControllerValue | undefined,
): 'shown' | 'hidden' | 'no verdict' {
  let allTrue = true;
  for (const text of condition ?? []) {
    const term = readTerm(text);
    const controller = term === null ? undefined : controllerOf(term.code);
    if (term === null || controller === undefined) return 'no verdict';
    if (!supports(controller.type, term)) return 'no verdict';
    allTrue &&= isTrue(term, controller);
  }
  return allTrue ? 'shown' : 'hidden';
}
