import { piecesOf } from '#lib/comments/mentions.ts';

/** A part of a text: words, the name of a person, or an address. */
export type TextPiece =
  | { readonly text: string }
  | { readonly text: string; readonly username: string }
  | { readonly text: string; readonly href: string };

const address = /https?:\/\/[^\s<>"']+/giu;

/** Characters that end the sentence and not the address. */
const endings = /[.,;:!?…]+$/u;

/** Returns an address without the punctuation after it, and without a bracket that was opened before it. */
function withoutEnding(found: string): string {
  const text = found.replace(endings, '');
  const last = text.at(-1);
  const opening = last === ')' ? '(' : last === ']' ? '[' : undefined;
  if (last === undefined || opening === undefined) return text;
  const countOf = (bracket: string) => text.split(bracket).length;
  if (countOf(opening) >= countOf(last)) return text;
  return withoutEnding(text.slice(0, -1));
}

/** Returns the address that a browser opens; undefined for one that is not http or https. */
function hrefOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url.href : undefined;
}

/** Splits a text at the addresses of pages, and at the names of people written as `@name`. */
export function textPieces(text: string, withNames = true): TextPiece[] {
  const words = (part: string): TextPiece[] =>
    part === '' ? [] : withNames ? piecesOf(part) : [{ text: part }];
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const match of text.matchAll(address)) {
    const found = withoutEnding(match[0]);
    const href = hrefOf(found);
    if (href === undefined) continue;
    pieces.push(...words(text.slice(at, match.index)), { text: found, href });
    at = match.index + found.length;
  }
  pieces.push(...words(text.slice(at)));
  return pieces;
}
