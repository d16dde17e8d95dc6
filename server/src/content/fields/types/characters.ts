import type { Constraints } from '@vitrine/contract/field-types';
import { refuse } from '../../../platform/http/refuse.ts';
import type { ValueFault } from './field-type.ts';

/** The 400 for an empty value. */
export function emptyValue(code: string): Error {
  return refuse('value-empty', { property: code });
}

/** Counts the characters of a text as the schemas of requests do, which is in code points. */
export function charactersIn(text: string): number {
  return [...text].length;
}

/** Throws a 400 when a text is longer than values of its type may be. */
export function checkLength(code: string, text: string, most: number): void {
  if (charactersIn(text) > most) throw refuse('value-exceeds-column', { property: code, max: most });
}

/** Returns how the length of a text violates the constraints; null when it does not. */
export function faultOfLength({ min_length, max_length }: Constraints, value: string): ValueFault | null {
  const characters = charactersIn(value);
  if (min_length !== undefined && characters < min_length)
    return { kind: 'text-too-short', limit: min_length };
  if (max_length !== undefined && characters > max_length)
    return { kind: 'text-too-long', limit: max_length };
  return null;
}
