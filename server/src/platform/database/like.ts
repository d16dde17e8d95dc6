/** Escapes the wildcards of LIKE patterns. */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Returns the LIKE pattern that matches text containing these characters. */
export function containsPattern(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** Returns the LIKE pattern that matches text beginning with these characters. */
export function prefixPattern(text: string): string {
  return `${escapeLike(text)}%`;
}
