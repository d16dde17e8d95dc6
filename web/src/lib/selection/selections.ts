import { createContext } from 'svelte';
import { createSelection, type Selection } from './selection.svelte.ts';

/** The selections of the lists that were opened last, so that going back finds what was chosen. */
export interface Selections {
  /** Returns the selection of a list, by a name that includes its filter. */
  of(list: string): Selection;
}

export const [getSelections, setSelections] = createContext<Selections>();

/** Lists whose selections are kept. */
const mostKept = 8;

/** Creates the selections of one caller. */
export function createSelections(): Selections {
  const kept = new Map<string, Selection>();
  return {
    of(list) {
      const selection = kept.get(list) ?? createSelection();
      kept.delete(list);
      kept.set(list, selection);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return selection;
    },
  };
}
