import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import {
  directionOf,
  type Language,
  languages,
  pageFileOf,
  preloadsFileOf,
  signInFileOf,
} from '@vitrine/contract/languages';
import type { Preloads } from '../bundling/chunks.ts';
import { signInHtml } from '../bundling/sign-in.ts';
import { type Catalogue, readCatalogue } from './catalogues.ts';
import { localise, translationsOf } from './localise.ts';

const compressible = /\.(?:css|html|js|json|svg|txt|webmanifest)$/;
const shared = '_app/immutable/';

/** Returns the folder of the scripts of a language. Its name has a hash, because browsers keep the scripts for good. */
function folderOf(language: Language, catalogue: Catalogue): string {
  const hash = createHash('sha256').update(JSON.stringify(catalogue)).digest('hex').slice(0, 8);
  return `_app/${language}.${hash}/`;
}

const inLanguage = (html: string, language: Language) =>
  html.replace('<html lang="en"', `<html lang="${language}" dir="${directionOf(language)}"`);

/** Returns a page without hints for files that only name the parts of a route: their chunks are named instead. */
const withoutNodes = (html: string) => html.replace(/\s*<link [^>]*\/nodes\/[^>]*rel="modulepreload">/g, '');

/**
 * Writes the built pages in every language: `index.<language>.html`, `sign-in.<language>.html`, and the scripts with texts in a folder of the
 * language. The service takes all other files from the shared folder, so every script has one address per language.
 * `preloads` has the files that kinds of pages load first, which are written beside the page.
 */
export async function writeLanguages(pages: string, english: Catalogue, preloads: Preloads): Promise<void> {
  const files = readdirSync(pages, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(pages, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  const contents = new Map(files.map((file) => [file, readFileSync(join(pages, file))]));
  const scripts = [...contents].filter(([file]) => file.startsWith(shared) && file.endsWith('.js'));
  const html = withoutNodes(contents.get(pageFileOf('en'))?.toString('utf8') ?? '');
  const signIn = signInHtml(html, files);
  const written = new Map<string, { content: string | Buffer; quality: number }>();
  for (const [file, content] of contents) written.set(file, { content, quality: 11 });
  for (const language of languages) {
    const catalogue = language === 'en' ? english : readCatalogue(language);
    const translations = translationsOf(english, catalogue);
    const isEnglish = language === 'en';
    const folder = isEnglish ? shared : folderOf(language, catalogue);
    for (const [file, content] of scripts) {
      const script = content.toString('utf8');
      const translated = localise(script, translations).replaceAll(shared, folder);
      if (translated !== script)
        written.set(file.replace(shared, folder), { content: translated, quality: isEnglish ? 11 : 8 });
    }
    const pageOf = (page: string) => inLanguage(page.replaceAll(shared, folder), language);
    written.set(pageFileOf(language), { content: pageOf(html), quality: 11 });
    if (signIn !== null) written.set(signInFileOf(language), { content: pageOf(signIn), quality: 11 });
    const list = JSON.stringify(preloads).replaceAll(shared, folder);
    written.set(preloadsFileOf(language), { content: list, quality: 1 });
  }
  await Promise.all(
    [...written].map(([file, { content, quality }]) => write(join(pages, file), content, quality)),
  );
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Writes a file and its compressed forms. */
async function write(path: string, content: string | Buffer, quality: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (!compressible.test(path)) return;
  const bytes = Buffer.from(content);
  const [smallest, common] = await Promise.all([
    brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    zip(bytes, { level: quality > 8 ? 9 : 6 }),
  ]);
  writeFileSync(`${path}.br`, smallest);
  writeFileSync(`${path}.gz`, common);
}

const [, , pages, work] = process.argv;
if (pages !== undefined && work !== undefined) {
  // Written by the plugins of the same build.
  const read = (name: string) => JSON.parse(readFileSync(join(work, name), 'utf8'));
  const english: Catalogue = { ...read('texts.json'), ...read('sign-in-texts.json') };
  const preloads: Preloads = read('preloads.json');
  await writeLanguages(pages, english, preloads);
}
