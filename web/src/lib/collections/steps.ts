/** One change to what a collection holds, in the order it was made. */
export type Step =
  | { readonly kind: 'move'; readonly post: string /** null: last. */; readonly before: string | null }
  | { readonly kind: 'remove'; readonly post: string };

/**
 * The steps that wait, with one more. A post that is moved again, or taken out, before its last move was sent need
 * not be moved first.
 */
export function withStep(waiting: readonly Step[], step: Step): readonly Step[] {
  const last = waiting.at(-1);
  const overtaken = last?.kind === 'move' && last.post === step.post;
  return [...(overtaken ? waiting.slice(0, -1) : waiting), step];
}

/** The post that one stands before; null when it is last. */
export function nextAfter(ids: readonly string[], id: string): string | null {
  const at = ids.indexOf(id);
  return at < 0 ? null : (ids[at + 1] ?? null);
}

/**
 * The order on the screen, held to what was read since: what is gone is left out, what was taken out here does not
 * come back, and what came by reading on stands at the end.
 */
export function heldTo(
  shown: readonly string[],
  read: readonly string[],
  taken: ReadonlySet<string>,
): readonly string[] {
  const [known, present] = [new Set(shown), new Set(read)];
  return [...shown.filter((id) => present.has(id)), ...read.filter((id) => !known.has(id) && !taken.has(id))];
}
