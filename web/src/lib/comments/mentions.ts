/** A part of a comment: text, or the name of a mentioned person. */
export type Piece = { readonly text: string } | { readonly text: string; readonly username: string };

/** `@name` or `@"name with blanks"`, but not inside a mail address. The service parses them in the same way. */
const pattern =
  /(?<![\p{L}\p{M}\p{N}_.@])@(?:"([^"\n]{1,100})"|([\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_.-]{0,98}[\p{L}\p{M}\p{N}_])?))/gu;

/** The maximum number of names linked in a text, as in the service. */
const mostNames = 30;

/** Splits a comment at its mentions. A full stop after a name ends the sentence and is not part of the name. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let names = 0;
  for (const match of text.matchAll(pattern)) {
    const username = (match[1] ?? match[2] ?? '').trim();
    if (username === '' || names >= mostNames) continue;
    names += 1;
    if (match.index > at) pieces.push({ text: text.slice(at, match.index) });
    pieces.push({ text: match[0], username });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}

/** A mention that is being typed: the position of its `@` and the typed part of the name. */
export interface MentionDraft {
  readonly from: number;
  readonly typed: string;
}

/** Returns the mention that ends at the caret; undefined if there is none. */
export function mentionDraftAt(text: string, caret: number): MentionDraft | undefined {
  const match = /(?<![\p{L}\p{M}\p{N}_.@])@(?:"([^"\n]{0,100})|([^\s@"]{0,100}))$/u.exec(
    text.slice(0, caret),
  );
  return match === null ? undefined : { from: match.index, typed: match[1] ?? match[2] ?? '' };
}

/** A person who can be mentioned. */
export interface Mentionable {
  readonly ref: number;
  readonly username: string;
  readonly display_name: string;
  readonly avatar_url?: string | null | undefined;
}

/** Returns the mention of a username; undefined if it cannot be written as a mention. */
export function mentionOf(username: string): string | undefined {
  if (/["\n]/.test(username)) return undefined;
  return /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_.-]*[\p{L}\p{M}\p{N}_])?$/u.test(username)
    ? `@${username}`
    : `@"${username}"`;
}

/** Returns a few people whose username, or a word of whose name, begins with the typed text, in the given order. */
export function matching(people: readonly Mentionable[], typed: string, most = 6): Mentionable[] {
  const wanted = typed.trim().toLocaleLowerCase();
  const begins = (text: string) => text.toLocaleLowerCase().startsWith(wanted);
  return people
    .filter(({ username }) => mentionOf(username) !== undefined)
    .filter(({ username, display_name }) =>
      [username, display_name, ...display_name.split(/\s+/u)].some(begins),
    )
    .slice(0, most);
}

/** Completes the mention that is being typed; returns the text and the new position of the caret. */
export function completed(
  text: string,
  typing: MentionDraft,
  caret: number,
  username: string,
): { text: string; caret: number } {
  const before = `${text.slice(0, typing.from)}${mentionOf(username) ?? ''} `;
  return { text: before + text.slice(caret).replace(/^["]? ?/, ''), caret: before.length };
}
