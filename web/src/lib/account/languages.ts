/** Languages offered as a preference, each in its own name. */
const offered = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt-BR', 'sv', 'ja', 'ko', 'zh-Hans', 'ar'];

/** A language's own name for itself, or its tag where the browser has no name for it. */
export function languageName(tag: string): string {
  try {
    const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
    const [first = '', ...rest] = name;
    return first.toLocaleUpperCase(tag) + rest.join('');
  } catch {
    return tag;
  }
}

/** What can be chosen: the offered languages, and the stored one when it is another. */
export function languageChoices(stored: string): { value: string; label: string }[] {
  const tags = stored === '' || offered.includes(stored) ? offered : [...offered, stored];
  return tags.map((value) => ({ value, label: languageName(value) }));
}
