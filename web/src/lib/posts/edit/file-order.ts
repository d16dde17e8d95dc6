import { locale } from '#lib/languages/language.ts';

/** How the files of a post are ordered: by a property, or as the user arranged them. */
export type FileOrder = 'name' | 'taken' | 'own';

/** What the form knows about the order of its files besides the files. */
export interface Arrangement {
  readonly order: FileOrder;
  /** When files were taken, in milliseconds, by the id of the asset or upload. */
  readonly taken: Readonly<Record<string, number>>;
}

/** A file of the form: an asset, or an upload that is on its way. */
export interface OrderedFile {
  readonly id: string;
  readonly name: string;
  /** When it was taken, in milliseconds; undefined if it is not known. */
  readonly taken: number | undefined;
}

/** Compares names as people do: `img 2` precedes `img 10`. */
const natural = new Intl.Collator(locale(), { numeric: true, sensitivity: 'base' });

const byName = (a: OrderedFile, b: OrderedFile) => natural.compare(a.name, b.name);

/** Files of which nobody knows when they were taken come last. */
function byTaken(a: OrderedFile, b: OrderedFile): number {
  return (a.taken ?? Number.POSITIVE_INFINITY) - (b.taken ?? Number.POSITIVE_INFINITY) || byName(a, b);
}

/**
 * Returns the ids of the files in order. In the user's own order, files keep their places, and new ones follow by name.
 */
export function arranged(
  before: readonly string[],
  files: readonly OrderedFile[],
  order: FileOrder,
): readonly string[] {
  if (order !== 'own') return files.toSorted(order === 'name' ? byName : byTaken).map(({ id }) => id);
  const ids = new Set(files.map(({ id }) => id));
  const known = new Set(before);
  const fresh = files.filter(({ id }) => !known.has(id)).toSorted(byName);
  return [...before.filter((id) => ids.has(id)), ...fresh.map(({ id }) => id)];
}

/** Returns the order that a list of files has: by name, or the user's own. */
export function orderOf(files: readonly OrderedFile[]): FileOrder {
  const sorted = arranged([], files, 'name');
  return files.every(({ id }, at) => sorted[at] === id) ? 'name' : 'own';
}
