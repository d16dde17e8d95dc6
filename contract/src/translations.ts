import { type TSchema, Type } from 'typebox';
import { languages } from './languages.ts';
import { closed, propertiesOf } from './values.ts';

/**
 * The same text in the languages of the pages, by their tags (LANGUAGE-5). Readers of a language that is absent see the
 * text itself.
 */
export function translationsOf<S extends TSchema>(text: S) {
  return closed(propertiesOf(languages, Type.Optional(text)));
}
