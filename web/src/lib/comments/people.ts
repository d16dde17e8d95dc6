import { createContext } from 'svelte';
import type { Mentionable } from './mentions.ts';

/** The participants of the discussion, who are suggested for mentions. */
export const [getPeople, setPeople] = createContext<() => readonly Mentionable[]>();

interface Written {
  readonly author?: Mentionable | undefined;
}

/** Returns participants before other people of the library, without duplicates and without the reader. */
export function participantsFirst(
  here: readonly Mentionable[],
  known: readonly Mentionable[],
  ownRef: number | undefined,
): Mentionable[] {
  const refs = new Set(here.map(({ ref }) => ref));
  return [...here, ...known.filter(({ ref }) => ref !== ownRef && !refs.has(ref))];
}

/** Returns the authors of the post and of the loaded comments, without duplicates and without the reader. */
export function peopleIn(
  post: Written,
  roots: readonly (Written & { readonly replies: readonly Written[] })[],
  ownRef: number | undefined,
): Mentionable[] {
  const authors = [
    post.author,
    ...roots.flatMap((root) => [root.author, ...root.replies.map((reply) => reply.author)]),
  ];
  const people = new Map<number, Mentionable>();
  for (const author of authors) {
    if (author !== undefined && author.ref !== ownRef && !people.has(author.ref))
      people.set(author.ref, author);
  }
  return [...people.values()];
}
