import { foldName } from '@vitrine/contract/names';

/** POST-16: at most 50 tags of 1 to 64 characters. */
const mostTags = 50;
const longestTag = 64;

export interface TagsAfter {
  readonly tags: readonly string[];
  /** Explains what was refused; undefined if everything was added. */
  readonly problem: string | undefined;
}

/** Splits a typed or pasted text at commas and line breaks, and removes `#` and outer spaces. */
export function parseTags(text: string): string[] {
  return text
    .split(/[,;\n\r\t]+/u)
    .map((part) => part.trim().replace(/^#+/u, '').replace(/\s+/gu, ' ').trim())
    .filter((part) => part !== '');
}

/**
 * Adds the tags of a text to the list: no duplicates ignoring case, none that is too long, and no more than allowed.
 */
export function addTags(tags: readonly string[], text: string): TagsAfter {
  const after = [...tags];
  const known = new Set(tags.map(foldName));
  let problem: string | undefined;
  for (const tag of parseTags(text)) {
    const folded = foldName(tag);
    if (known.has(folded)) continue;
    if ([...tag].length > longestTag) problem = `A tag can have at most ${longestTag} characters.`;
    else if (after.length >= mostTags) problem = `A post can have at most ${mostTags} tags.`;
    else {
      after.push(tag);
      known.add(folded);
    }
  }
  return { tags: after, problem };
}
