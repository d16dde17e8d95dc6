import { refuse } from '../../../platform/http/refuse.ts';

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
