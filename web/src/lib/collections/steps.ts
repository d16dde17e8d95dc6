import type { ItemRef } from './item.ts';

/** A change to the content of a collection. */
export type Step =
  | { readonly kind: 'move'; readonly item: ItemRef /** Null: the end. */; readonly before: string | null }
  | { readonly kind: 'remove'; readonly item: ItemRef };

/** Adds a step to the pending ones. Drops earlier pending moves of an item that is moved again or removed. */
export function withStep(waiting: readonly Step[], step: Step): readonly Step[] {
  const last = waiting.at(-1);
  const overtaken = last?.kind === 'move' && last.item.id === step.item.id;
  return [...(overtaken ? waiting.slice(0, -1) : waiting), step];
}

/** Returns the item after this one; null if it is the last. */
export function nextAfter(ids: readonly string[], id: string): string | null {
  const at = ids.indexOf(id);
  return at < 0 ? null : (ids[at + 1] ?? null);
}

/**
 * Merges the displayed order with newly loaded items: removes items that are gone, keeps local removals, and appends
 * new ones at the end.
 */
export function heldTo(
  shown: readonly string[],
  read: readonly string[],
  taken: ReadonlySet<string>,
): readonly string[] {
  const [known, present] = [new Set(shown), new Set(read)];
  return [...shown.filter((id) => present.has(id)), ...read.filter((id) => !known.has(id) && !taken.has(id))];
}
