import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes } from '@vitrine/contract/errors/codes';
import ts from 'typescript';
import type { Message } from './extract.ts';

const root = join(import.meta.dirname, '../../server/src');

/** The functions that return a text in a language, and the place of the text among their arguments. */
const places: ReadonlyMap<string, number> = new Map([
  ['say', 1],
  ['sayCount', 2],
  ['sentence', 0],
  ['sentenceCount', 1],
]);

/** Returns the literal texts of an argument; null if it is computed. */
function literalsOf(argument: ts.Expression | undefined): string[] | null {
  if (argument === undefined) return null;
  if (ts.isStringLiteralLike(argument)) return [argument.text];
  if (!ts.isArrayLiteralExpression(argument)) return null;
  const texts = argument.elements.map((element) => (ts.isStringLiteralLike(element) ? element.text : null));
  return texts.length === 2 && texts.every((text) => text !== null) ? texts : null;
}

/** Returns the texts of a source of the server. Throws for one that is not a literal. */
export function serverTexts(content: string, file: string): Message[] {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const found: Message[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
    const place = places.get(node.expression.text);
    if (place === undefined) return;
    const forms = literalsOf(node.arguments[place]);
    if (forms === null) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      throw new Error(`${file}:${line + 1}: the text of ${node.expression.text} must be a literal`);
    }
    found.push({ key: forms.join('\n'), forms });
  };
  visit(source);
  return found;
}

/** Returns the texts of errors. Those without a space, such as `2fa_required`, are words of the interface (LANGUAGE-9). */
const errorTexts = (): Message[] =>
  Object.values(errorCodes)
    .filter(({ text }) => text.includes(' '))
    .map(({ text }) => ({ key: text, forms: [text], isPlain: true }));

/** Returns all texts of the server in the order of their files, each once. */
export function readServerMessages(): Message[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/platform/language/'))
    .sort();
  const found = new Map<string, Message>();
  for (const file of files) {
    const content = readFileSync(file, 'utf8');
    // Skips sources that cannot call these functions, because parsing all takes seconds.
    if (!/language\/(?:say|sentence)\.ts'/.test(content)) continue;
    for (const message of serverTexts(content, file))
      if (!found.has(message.key)) found.set(message.key, message);
  }
  for (const message of errorTexts()) if (!found.has(message.key)) found.set(message.key, message);
  return [...found.values()];
}
