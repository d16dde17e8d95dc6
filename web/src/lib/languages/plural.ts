import { language, locale } from './language.ts';

/** Translations have a form for each category of their language; texts in the code have one for one and one for others. */
export type Forms = readonly [one: string, other: string];
type Translated = Partial<Record<Intl.LDMLPluralRule, string>>;

/** Returns the form of a text for a count, with the count in place of each `#`. */
export function plural(count: number, forms: Forms | Translated): string {
  const form = 'length' in forms ? forms[count === 1 ? 0 : 1] : translated(count, forms);
  return form.replaceAll('#', new Intl.NumberFormat(locale()).format(count));
}

const translated = (count: number, forms: Translated) =>
  forms[new Intl.PluralRules(language()).select(count)] ?? forms.other ?? '';
