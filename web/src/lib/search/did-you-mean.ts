function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Returns the edit distance of two words: letters changed, added, removed or swapped. */
export function distance(a: string, b: string): number {
  const [from, to] = [[...a], [...b]];
  let twoBefore: number[] = [];
  let before = to.map((_, at) => at + 1);
  before.unshift(0);
  for (const [row, letter] of from.entries()) {
    const now = [row + 1];
    for (const [column, other] of to.entries()) {
      const kept = (before[column] ?? 0) + (letter === other ? 0 : 1);
      const swapped =
        row > 0 && column > 0 && letter === to[column - 1] && from[row - 1] === other
          ? (twoBefore[column - 1] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      now.push(Math.min(kept, swapped, (before[column + 1] ?? 0) + 1, (now[column] ?? 0) + 1));
    }
    twoBefore = before;
    before = now;
  }
  return before.at(-1) ?? 0;
}

/**
 * Suggests a corrected query: replaces each misspelt word by the most similar word of the given names. Undefined if
 * no word is similar enough.
 */
export function meant(q: string, names: readonly string[]): string | undefined {
  const offered = [...new Set(names.flatMap((name) => name.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []))];
  let changed = false;
  const words = q.split(/(\s+)/).map((word) => {
    const folded = fold(word);
    if (folded.length < 3 || offered.some((known) => fold(known).startsWith(folded))) return word;
    let best: { readonly word: string; readonly far: number } | undefined;
    for (const known of offered) {
      const far = distance(folded, fold(known));
      if (far <= Math.max(1, Math.floor(folded.length / 3)) && far < (best?.far ?? 4))
        best = { word: known, far };
    }
    if (best === undefined) return word;
    changed = true;
    return best.word.toLowerCase();
  });
  return changed ? words.join('') : undefined;
}
