import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Language } from '@vitrine/contract/languages';
import { serverFolder } from '../installation.ts';

type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

/** The translations of the server's texts by their English originals. */
type Catalogue = Readonly<Record<string, string | Forms>>;

const folder = join(serverFolder, '../messages/server');
const read = new Map<Language, Catalogue>();

/** Returns the translation of a text; undefined for English and without one. Reads the catalogue of a language once. */
export function translationOf(language: Language, key: string): string | Forms | undefined {
  if (language === 'en') return undefined;
  let catalogue = read.get(language);
  if (catalogue === undefined) {
    // The files are ours; `npm run messages` checks them.
    catalogue = JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8')) as Catalogue;
    read.set(language, catalogue);
  }
  return catalogue[key];
}
