import { adapter as svelteAdapter } from '@wuchale/svelte';
import type { Adapter, Message as Found, IndexTracker } from 'wuchale';
import { adapter as scriptAdapter } from 'wuchale/adapter-vanilla';
import { markOf } from './marks.ts';
import { isText } from './recognise.ts';

/** A text of the pages: one string, or the forms for one and for several of a `plural(count, [one, several])`. */
export interface Message {
  readonly key: string;
  readonly forms: readonly string[];
  /** Whether it is never part of a document, so that it may contain what would be markup there. */
  readonly isPlain?: boolean;
}

export interface Extracted {
  readonly code: string;
  readonly messages: readonly Message[];
}

const patterns = [
  { name: 'plural', args: ['other' as const, 'message' as const] },
  { name: 'phrase', args: ['message' as const] },
];
const inPlace = { wrapInit: (code: string) => code, wrapUse: (code: string) => code };
/** The language is fixed while a page is open, so nothing has to be reactive. */
const runtime = { initReactive: () => null, useReactive: false, plain: inPlace, reactive: inPlace };
const options = { heuristic: isText, patterns, runtime };
const components = svelteAdapter(options);
const scripts = scriptAdapter(options);

const runtimeName = '_w_runtime_';
const header = `import { fill as ${runtimeName} } from "#lib/languages/fill.ts";`;

/**
 * Hides from the extraction what only looks like a text: a value that is compared. `\uE1xx` stands for a first letter.
 * Each replacement is as long as the original.
 */
const hide = (code: string) =>
  code
    // A comment of the library: an icon before a text is not a part of it.
    .replace(/(>\s*<[A-Z]\w*(?:\s[^<>]*)?\/>)(?=\s*[^<>{}\s][^<>{}]*<\/)/g, '$1<!-- @wc-unit: -->')
    .replace(
      /((?:[!=]==|\bcase)\s*')([A-Z])/g,
      (_, before: string, letter: string) => before + String.fromCharCode(0xe100 + letter.charCodeAt(0)),
    )
    .replace(/\$derived\b/g, '$derlved');
const unhide = (code: string) =>
  code
    .replace(/[\uE100-\uE17F]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xe100))
    // The library makes constants of components reactive, which is not needed.
    .replace(/\$derived\(/g, '(')
    .replace(/\$derlved\b/g, '$derived');

/** A text without parts becomes a literal, which the compiler moves into the markup; one without elements needs no component. */
const inlined = (code: string) =>
  code
    .replaceAll(`${runtimeName}mod_`, runtimeName)
    .replace(new RegExp(`${runtimeName}\\(("[^"]+")\\)`, 'g'), '$1')
    .replace(
      new RegExp(`\n<W_tx_ x={${runtimeName}\\.c\\(("[^"]+")\\)} a={\\[([^]*?)\\]} />\n`, 'g'),
      `{${runtimeName}($1, [$2])}`,
    );

const adapterOf = (file: string): Adapter => (file.endsWith('.svelte') ? components : scripts);

/** Returns the code with a mark in place of each text that people read, and these texts. */
export async function extract(content: string, file: string): Promise<Extracted> {
  const used = new Set<string>();
  const markFor = (key: string) => {
    used.add(key);
    return JSON.stringify(markOf(key));
  };
  const { output, msgs } = await adapterOf(file).transform({
    content: hide(content),
    filename: file,
    // The library puts what `get` returns into the code: here a mark, there a number.
    index: { get: markFor } as unknown as IndexTracker,
    expr: { plain: runtimeName, reactive: runtimeName },
    matchUrl: () => null,
  });
  const plurals = new Map(
    msgs.filter(({ plural }) => plural).map((found: Found) => [found.msgStr.join('\n'), found.msgStr]),
  );
  const messages = [...used].map((key) => ({ key, forms: plurals.get(key) ?? [key] }));
  if (messages.length === 0) return { code: content, messages };
  const code = inlined(unhide(output(header).code ?? content));
  return { code, messages };
}
