import { createContext } from 'svelte';
import type { ShownItem } from './item.ts';

/** The post or file for the dialog "Save to collection"; undefined while it is closed. All pages share one dialog. */
export interface Saving {
  item: ShownItem | undefined;
}

export const [getSaving, setSaving] = createContext<Saving>();

/** Creates the state with a closed dialog. */
export function createSaving(): Saving {
  let item = $state.raw<ShownItem>();
  return {
    get item() {
      return item;
    },
    set item(next) {
      item = next;
    },
  };
}
