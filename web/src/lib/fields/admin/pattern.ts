/** What trying a value against a pattern shows. */
export type Trial = 'fits' | 'does not fit' | 'no pattern';

/** Tries a value as the service would: RE2, and the whole value (spec 2.7 rule 9). The engine comes when it is asked for. */
export async function tryPattern(pattern: string, value: string): Promise<Trial> {
  const { RE2JS } = await import('re2js');
  try {
    return RE2JS.compile(pattern).matches(value) ? 'fits' : 'does not fit';
  } catch {
    return 'no pattern';
  }
}
