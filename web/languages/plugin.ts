import { writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Plugin } from 'vite';
import { englishOf } from './catalogues.ts';
import { extract, type Message } from './extract.ts';
import { hasTexts } from './sources.ts';

/**
 * Puts marks in place of the texts of the pages and writes the texts to `path`, both for `writeLanguages`. The
 * development server shows English.
 */
export function languagePlugin(path: string): Plugin {
  const source = join(import.meta.dirname, '../src') + sep;
  const found: Message[] = [];
  return {
    name: 'vitrine-languages',
    apply: 'build',
    enforce: 'pre',
    async transform(content, id) {
      if (!id.startsWith(source) || !hasTexts(id)) return null;
      const { code, messages } = await extract(content, relative(source, id));
      found.push(...messages);
      return messages.length === 0 ? null : { code, map: null };
    },
    writeBundle() {
      writeFileSync(path, JSON.stringify(englishOf(found)));
    },
  };
}
