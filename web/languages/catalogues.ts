import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The translation of each text by its English original: a string, or the forms of a plural by their category. */
export type Catalogue = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const pathOf = (language: string) => join(import.meta.dirname, `../../messages/${language}.json`);

/** Reads the catalogue of a language; an empty one if there is none. */
export function readCatalogue(language: string): Catalogue {
  const path = pathOf(language);
  // The files are ours; `npm run messages` checks them.
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Catalogue) : {};
}

/** Writes the catalogue of a language. */
export function writeCatalogue(language: string, catalogue: Catalogue): void {
  writeFileSync(pathOf(language), `${JSON.stringify(catalogue, null, 2)}\n`);
}
