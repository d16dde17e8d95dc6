import type { Asset } from '@vitrine/contract/assets';
import { mostStacked } from '@vitrine/contract/stacks';

/** What can be stacked and unstacked of chosen files. */
export interface ChosenStacks {
  /** The files for one stack, with those of the chosen stacks; empty if they cannot be one. */
  readonly together: readonly string[];
  /** The ids of the chosen stacks. */
  readonly stacks: readonly string[];
}

/** Returns what can be done with chosen files of a list that shows stacks by their tops. */
export function chosenStacks(assets: readonly Asset[], ids: readonly string[]): ChosenStacks {
  // Many files may be chosen at once, which is no stack.
  if (ids.length > mostStacked) return { together: [], stacks: [] };
  const byId = new Map(assets.map((asset) => [asset.id, asset.restricted ? undefined : asset.stack]));
  const together = [...new Set(ids.flatMap((id) => byId.get(id)?.assets ?? [id]))];
  const canStack = ids.length > 1 && together.length <= mostStacked;
  return {
    together: canStack ? together : [],
    stacks: [...new Set(ids.flatMap((id) => byId.get(id)?.id ?? []))],
  };
}
