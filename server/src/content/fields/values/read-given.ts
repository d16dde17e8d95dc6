import { type FieldType, factsOf, valueMembers } from '@vitrine/contract/field-types';
import type { ValueMembers } from '@vitrine/contract/field-values';
import { Refusal, refuse } from '../../../platform/http/refuse.ts';
import { rulesOf } from '../types/registry.ts';
import type { TypedValue } from './typed-value.ts';

interface Typed {
  code: string;
  type: FieldType;
}

/**
 * Reads the value for a field from a body and checks its type. 400 when the value is in another member, in several,
 * empty, or of another type. Keeps blanks (FIELD-19, FIELD-26).
 */
export function readGiven({ code, type }: Typed, body: ValueMembers): TypedValue {
  const { member } = factsOf[type];
  const other = valueMembers.find((name) => name !== member && body[name] != null);
  if (other !== undefined) throw refuse('value-in-other-member', { property: code, member, other });
  const value = rulesOf[type].parse(code, body);
  if (value === null) throw refuse('value-member-missing', { member });
  return value;
}

/** Reads a value as if a client had written it, so that HTML is sanitised; null when the field cannot have it. */
export function readFitting(field: Typed, body: ValueMembers): TypedValue | null {
  try {
    return readGiven(field, body);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
