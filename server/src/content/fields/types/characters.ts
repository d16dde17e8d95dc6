import type { Constraints } from '@vitrine/contract/field-types';
import { refuse } from '../../../platform/http/refuse.ts';

/** The 400 for an empty value. */
export function emptyValue(code: string): Error {
  return refuse(400, `${code} is empty; delete the value instead`);
}

/** Throws a 400 when a text is longer than values of its type may be. */
export function checkLength(code: string, text: string, most: number): void {
  if (Array.from(text).length > most) throw refuse(400, `${code} is longer than ${most} characters`);
}

/** Describes how the length of a text violates the constraints; null when it does not. Counts code points. */
export function faultOfLength({ min_length, max_length }: Constraints, value: string): string | null {
  const characters = [...value].length;
  if (min_length !== undefined && characters < min_length) return `is shorter than ${min_length} characters`;
  if (max_length !== undefined && characters > max_length) return `is longer than ${max_length} characters`;
  return null;
}
