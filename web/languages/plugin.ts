import { relative, sep } from 'node:path';
import type { Plugin } from 'vite';
import { extract } from './extract.ts';
import { hasTexts } from './sources.ts';

/** Puts marks in place of the texts of the pages, for `writeLanguages`. The development server shows English. */
export function languagePlugin(): Plugin {
  const source = `${import.meta.dirname.replace(/languages$/, 'src')}${sep}`;
  return {
    name: 'vitrine-languages',
    apply: 'build',
    enforce: 'pre',
    async transform(content, id) {
      if (!id.startsWith(source) || !hasTexts(id)) return null;
      const { code, messages } = await extract(content, relative(source, id));
      return messages.length === 0 ? null : { code, map: null };
    },
  };
}
