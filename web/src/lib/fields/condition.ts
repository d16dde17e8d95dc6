import { type FieldType, type FilterOperator, factsOf } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import type { Draft } from './types/field-type.ts';

/** A parsed term of a display condition (FIELD-24). */
export interface Term {
  readonly code: string;
  readonly operator: FilterOperator;
  readonly value: string;
}

/** Longest first (FIELD-25). */
const operators: readonly FilterOperator[] = ['>=', '<=', '=', '~', '<', '>'];

/** Parses a term; undefined if it is invalid. */
export function readTerm(text: string): Term | undefined {
  const at = text.search(/[=~<>]/);
  const operator = operators.find((symbol) => text.startsWith(symbol, at));
  if (at === -1 || operator === undefined) return undefined;
  const code = text.slice(0, at).trim().toLowerCase();
  const value = text.slice(at + operator.length).trim();
  return code === '' || value === '' ? undefined : { code, operator, value };
}

/** Compares text without trimming and, except for `~`, with case. Without a value, every term is false. */
export function isTrue({ operator, value }: Pick<Term, 'operator' | 'value'>, draft: Draft): boolean {
  if (typeof draft !== 'string') return draft.includes(value);
  if (draft === '') return false;
  return operator === '~' ? draft.toLowerCase().includes(value.toLowerCase()) : draft === value;
}

/** A field that a condition refers to, with its value in the form. */
export interface Controller {
  readonly type: FieldType;
  readonly draft: Draft;
}

/**
 * Returns whether a form shows a field with this condition (FIELD-27): all terms must be true. A term about a field
 * that `controllerOf` does not know cannot be evaluated; the field is then shown.
 */
export function isOffered(
  condition: readonly string[] | null,
  controllerOf: (code: string) => Controller | undefined,
): boolean {
  const verdicts = (condition ?? []).map((text) => {
    const term = readTerm(text);
    const controller = term === undefined ? undefined : controllerOf(term.code);
    if (term === undefined || controller === undefined) return undefined;
    const known = factsOf[controller.type].conditions.some((operator) => operator === term.operator);
    return known ? isTrue(term, controller.draft) : undefined;
  });
  return verdicts.includes(undefined) || !verdicts.includes(false);
}

type Conditional = Pick<
  FieldDefinition,
  'id' | 'code' | 'type' | 'display_condition' | 'mirrors_column' | 'read_capability'
>;

/** The context of a form, besides the definitions. */
export interface FormContext {
  draftOf(field: Conditional): Draft;
  /** Returns whether the reader may read values of fields with this capability. */
  mayRead(capability: string): boolean;
}

/** Returns the fields that the form shows for its current values. */
export function offeredFields<F extends Conditional>(
  fields: readonly F[],
  { draftOf, mayRead }: FormContext,
): F[] {
  const controllers = new Map(
    fields.flatMap((field): [string, Controller][] =>
      field.read_capability === null || mayRead(field.read_capability)
        ? [[field.code, { type: field.type, draft: draftOf(field) }]]
        : [],
    ),
  );
  return fields.filter((field) => isOffered(field.display_condition, (code) => controllers.get(code)));
}
