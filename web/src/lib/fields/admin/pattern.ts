import type { FieldDefinition } from '@vitrine/contract/fields';
import { mostCharacters, patternBounds } from '@vitrine/contract/limits';

/** What trying a value against a pattern shows. */
export type PatternResult = 'fits' | 'does not fit' | 'no pattern' | 'takes too long';

/** How many characters a value of this field has at most, as far as a pattern may be asked of it. */
export function longestValue({ type, options }: Pick<FieldDefinition, 'type' | 'options'>): number {
  const most = type === 'longtext' ? mostCharacters.longtext : mostCharacters.text;
  const own = options?.max_length;
  return typeof own === 'number' ? Math.min(most, own) : most;
}

/**
 * Tries a value as the service would: RE2, the whole value, and nothing that would hold up whoever matches it (FIELD-19).
 * The engine comes when it is asked for.
 */
export async function tryPattern(pattern: string, value: string, longest: number): Promise<PatternResult> {
  const { RE2JS } = await import('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    const size = compiled.programSize();
    if (size > patternBounds.steps || size * longest > patternBounds.work) return 'takes too long';
    return compiled.matches(value) ? 'fits' : 'does not fit';
  } catch {
    return 'no pattern';
  }
}
