import { languages } from '@vitrine/contract/languages';

/** The languages offered as a preference, each in its own name. */
const offered: readonly string[] = languages;

/** Returns the name of a language in itself, or its tag if the browser does not know the name. */
export function languageName(tag: string): string {
  try {
    const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
    const [first = '', ...rest] = name;
    return first.toLocaleUpperCase(tag) + rest.join('');
  } catch {
    return tag;
  }
}

/** Returns the choices: the offered languages, and the stored one if it is not among them. */
export function languageChoices(stored: string): { value: string; label: string }[] {
  const tags = stored === '' || offered.includes(stored) ? offered : [...offered, stored];
  return tags.map((value) => ({ value, label: languageName(value) }));
}
