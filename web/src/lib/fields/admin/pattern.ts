import { patternBounds } from '@vitrine/contract/limits';

/** The result of trying a value against a pattern. */
export type PatternResult = 'fits' | 'does not fit' | 'no pattern' | 'takes too long';

/**
 * Tries a value as the service does: RE2, the whole value, and within the limits for patterns (FIELD-19). The engine
 * is loaded on demand.
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
