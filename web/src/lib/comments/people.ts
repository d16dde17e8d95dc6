import { createContext } from 'svelte';
import type { Mentionable } from './mentions.ts';

/** Whoever takes part where a comment is written, for the names it may mention. */
export const [getPeople, setPeople] = createContext<() => readonly Mentionable[]>();

interface Written {
  readonly author?: Mentionable | undefined;
}

/** Those who take part here before those the library knows, each once, without the reader. */
export function together(
  here: readonly Mentionable[],
  known: readonly Mentionable[],
  ownRef: number | undefined,
): Mentionable[] {
  const refs = new Set(here.map(({ ref }) => ref));
  return [...here, ...known.filter(({ ref }) => ref !== ownRef && !refs.has(ref))];
}

/** Who wrote the post and its comments as far as they were read, each once, without the reader. */
export function peopleIn(
  post: Written,
  roots: readonly (Written & { readonly replies: readonly Written[] })[],
  ownRef: number | undefined,
): Mentionable[] {
  const authors = [
    post.author,
    ...roots.flatMap((root) => [root.author, ...root.replies.map((one) => one.author)]),
  ];
  const people = new Map<number, Mentionable>();
  for (const author of authors) {
    if (author !== undefined && author.ref !== ownRef && !people.has(author.ref))
      people.set(author.ref, author);
  }
  return [...people.values()];
}
