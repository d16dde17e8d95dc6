/** Letters whose lower case is not their case folding: the final sigma folds to sigma. */
const finalSigma = /ς/g;

/**
 * Folds case as Unicode's full case folding does: a letter, its capital and what the two become (`ß` and `SS`) are
 * equal. The dotless i has the capital of i and still is another letter.
 */
function foldCase(text: string): string {
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase())
    .join('ı')
    .replace(finalSigma, 'σ');
}

/**
 * The one form in which names are compared (NAME-1): compatibility composed (NFKC) and case-folded. Names that look
 * the same in another Unicode form or case have the same key. Nothing else may decide whether two names are equal, and
 * SQL's `lower()` in particular may not: its result depends on the locale of the database.
 */
export function foldName(name: string): string {
  if (/^\p{ASCII}*$/u.test(name)) return name.toLowerCase();
  // Each of the two steps can make work for the other, but not twice.
  return foldCase(foldCase(name.normalize('NFKC')).normalize('NFKC')).normalize('NFKC');
}
