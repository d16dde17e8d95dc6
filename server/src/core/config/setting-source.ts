import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** Where settings are read from, for the modules that read those of one topic. */
export interface SettingSource<Name extends string> {
  /** The value; null when unset. */
  value(name: Name): string | null;
  /** Creates the error that stops the start with this one line. */
  refusal(reason: Sentence): Error;
}

/** Returns a whole number within bounds; `unset` without a value. */
export function wholeNumber<Name extends string>(
  { value, refusal }: SettingSource<Name>,
  name: Name,
  unset: number,
  least: number,
  most: number,
): number {
  const text = value(name) ?? String(unset);
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw refusal(
    sentence('{name} must be a whole number from {least} to {most}, not {given}', {
      name,
      least: String(least),
      most: String(most),
      given: JSON.stringify(text),
    }),
  );
}

/** Returns one of the allowed values; `unset` without a value. */
export function oneOf<Name extends string, const Value extends string>(
  { value, refusal }: SettingSource<Name>,
  name: Name,
  unset: NoInfer<Value>,
  allowed: readonly Value[],
): Value {
  const text = value(name) ?? unset;
  const found = allowed.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw refusal(
    sentence('{name} must be one of {allowed}, not {given}', {
      name,
      allowed: allowed.join(', '),
      given: JSON.stringify(text),
    }),
  );
}

/** Returns an http or https address without a trailing slash; null when unset. */
export function httpAddress<Name extends string>(
  { value, refusal }: SettingSource<Name>,
  name: Name,
): string | null {
  const text = value(name);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refusal(
      sentence('{name} must be an http or https address, not {given}', { name, given: JSON.stringify(text) }),
    );
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text))
    throw refusal(
      sentence('{name} must be an address without ? and #, not {given}', {
        name,
        given: JSON.stringify(text),
      }),
    );
  return text.replace(/\/+$/, '');
}

/** Returns a secret that nobody can guess: long, and of characters that a header may have; null when unset. */
export function secretText<Name extends string>(
  { value, refusal }: SettingSource<Name>,
  name: Name,
  least: number,
): string | null {
  const text = value(name);
  if (text === null || (/^[!-~]{1,200}$/.test(text) && text.length >= least)) return text;
  throw refusal(
    sentence('{name} must have {least} to 200 letters, digits and signs without blanks', { name, least }),
  );
}
