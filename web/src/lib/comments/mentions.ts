/** A piece of what somebody wrote: words, or the name of somebody they mention. */
export type Piece = { readonly text: string } | { readonly text: string; readonly username: string };

/** `@name`, or `@"name with blanks"`; not the middle of a mail address. The service reads them the same way. */
const pattern =
  /(?<![\p{L}\p{N}_.@])@(?:"([^"\n]{1,100})"|([\p{L}\p{N}_](?:[\p{L}\p{N}_.-]{0,98}[\p{L}\p{N}_])?))/gu;

/** Names that are linked in one text; the service looks at as many. */
const mostNames = 30;

/** What was written, with the names it mentions. A full stop behind a name ends the sentence, not the name. */
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

/** A mention that is being typed: where its `@` stands, and what of the name is there. */
export interface MentionDraft {
  readonly from: number;
  readonly typed: string;
}

/** The mention that ends at the caret; undefined where none is being typed. */
export function mentionDraftAt(text: string, caret: number): MentionDraft | undefined {
  const match = /(?<![\p{L}\p{N}_.@])@(?:"([^"\n]{0,100})|([^\s@"]{0,100}))$/u.exec(text.slice(0, caret));
  return match === null ? undefined : { from: match.index, typed: match[1] ?? match[2] ?? '' };
}

/** Somebody who can be mentioned. */
export interface Mentionable {
  readonly ref: number;
  readonly username: string;
  readonly display_name: string;
  readonly avatar_url?: string | null | undefined;
}

/** How a username is mentioned; undefined for one that no mention can spell. */
export function mentionOf(username: string): string | undefined {
  if (/["\n]/.test(username)) return undefined;
  return /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?$/u.test(username)
    ? `@${username}`
    : `@"${username}"`;
}

/** People whose username, or a word of whose name, begins with what was typed; few, in the order given. */
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

/** The text with the mention that is typed made whole, and where the caret stands then. */
export function completed(
  text: string,
  typing: MentionDraft,
  caret: number,
  username: string,
): { text: string; caret: number } {
  const before = `${text.slice(0, typing.from)}${mentionOf(username) ?? ''} `;
  return { text: before + text.slice(caret).replace(/^["]? ?/, ''), caret: before.length };
}
