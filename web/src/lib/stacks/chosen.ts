import type { Asset } from '@vitrine/contract/assets';
import { mostStacked } from '@vitrine/contract/stacks';

/** How selected files can be stacked and unstacked. */
export interface ChosenStacks {
  /** The files of the stack that they can form, including those of selected stacks; empty if they cannot. */
  readonly together: readonly string[];
  /** The ids of the selected stacks. */
  readonly stacks: readonly string[];
}

/** Returns how selected files can be stacked in a list that shows only the tops of stacks. */
export function chosenStacks(assets: readonly Asset[], ids: readonly string[]): ChosenStacks {
  // Thousands of files may be selected, too many for a stack.
  if (ids.length > mostStacked) return { together: [], stacks: [] };
  const byId = new Map(assets.map((asset) => [asset.id, asset.restricted ? undefined : asset.stack]));
  const together = [...new Set(ids.flatMap((id) => byId.get(id)?.assets ?? [id]))];
  const canStack = ids.length > 1 && together.length <= mostStacked;
  return {
    together: canStack ? together : [],
    stacks: [...new Set(ids.flatMap((id) => byId.get(id)?.id ?? []))],
  };
}
