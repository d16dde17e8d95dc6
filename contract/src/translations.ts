import { type TSchema, Type } from 'typebox';
import { closed } from './values.ts';

/** The same text in other languages of the pages, by their tags (LANGUAGE-5). Without that of a reader, the text itself is shown. */
export function translationsOf<S extends TSchema>(text: S) {
  const translated = Type.Optional(text);
  return closed({
    en: translated,
    de: translated,
    fr: translated,
    es: translated,
    'pt-BR': translated,
    it: translated,
    nl: translated,
    pl: translated,
    ja: translated,
    ko: translated,
    'zh-Hans': translated,
    ar: translated,
    he: translated,
  });
}
