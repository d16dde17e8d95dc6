import { type FieldType, holdsSeveral } from '@vitrine/contract/field-types';
import type { Draft, Members, Sent } from './types/field-type.ts';
import { viewOf } from './types/registry.ts';

export function emptyDraft(type: FieldType): Draft {
  return holdsSeveral(type) ? [] : '';
}

export function isSameDraft(a: Draft, b: Draft): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  return a.length === b.length && a.every((term, at) => term === b[at]);
}

/** Returns the form of a stored value; empty without one. */
export function draftOf(type: FieldType, value: Members | undefined): Draft {
  return value === undefined ? emptyDraft(type) : viewOf[type].draftOf(value);
}

/** Returns the request that gives a field the value of its draft. */
export function sentOf(type: FieldType, draft: Draft): Sent {
  if (draft.length === 0) return { kind: 'none' };
  if (typeof draft !== 'string') return { kind: 'value', members: { value_options: [...draft] } };
  return viewOf[type].sentOf(draft);
}
