import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from './extract.ts';

/** The translation of each text by its English original: a string, or the forms of a plural by their category. */
export type Catalogue = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** The folders of the catalogues: texts of the pages, and of what the server writes, such as mail. */
export const parts = ['.', 'server'] as const;
type Part = (typeof parts)[number];

const pathOf = (language: string, part: Part) =>
  join(import.meta.dirname, '../../messages', part, `${language}.json`);

/** Reads the catalogue of a language; an empty one if there is none. */
export function readCatalogue(language: string, part: Part = '.'): Catalogue {
  const path = pathOf(language, part);
  // The files are ours; `npm run messages` checks them.
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Catalogue) : {};
}

/** Writes the catalogue of a language. */
export function writeCatalogue(language: string, part: Part, catalogue: Catalogue): void {
  writeFileSync(pathOf(language, part), `${JSON.stringify(catalogue, null, 2)}\n`);
}

/** Returns the English catalogue of these texts. */
export const englishOf = (messages: readonly Message[]): Catalogue =>
  Object.fromEntries(messages.map((message) => [message.key, originalOf(message)]));

/** Returns the text itself, or its two English forms. */
export function originalOf({ key, forms }: Message): Catalogue[string] {
  const [one, other] = forms;
  return one !== undefined && other !== undefined ? { one, other } : key;
}
