/** POST-16: at most 50 tags of 1 to 64 characters. */
const mostTags = 50;
const longestTag = 64;

export interface TagsAfter {
  readonly tags: readonly string[];
  /** What was refused, in words; undefined when everything went in. */
  readonly problem: string | undefined;
}

/** The tags in a typed or pasted text: split at commas and line ends, `#` and outer spaces removed. */
export function parseTags(text: string): string[] {
  return text
    .split(/[,;\n\r\t]+/u)
    .map((part) => part.trim().replace(/^#+/u, '').replace(/\s+/gu, ' ').trim())
    .filter((part) => part !== '');
}

/** The list with a text's tags added: none twice whatever its case, none too long, no more than fit. */
export function addTags(tags: readonly string[], text: string): TagsAfter {
  const after = [...tags];
  const known = new Set(tags.map((tag) => tag.toLocaleLowerCase()));
  let problem: string | undefined;
  for (const tag of parseTags(text)) {
    const folded = tag.toLocaleLowerCase();
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
