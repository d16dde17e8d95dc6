import { createContext } from 'svelte';

/** The archives whose files are being made for a download that this page began. */
export interface Packing {
  readonly ids: readonly string[];
  add(id: string): void;
  remove(id: string): void;
}

export const [getPacking, setPacking] = createContext<Packing>();

/** Creates the list. */
export function createPacking(): Packing {
  let ids = $state.raw<readonly string[]>([]);
  return {
    get ids() {
      return ids;
    },
    add(id) {
      ids = [...ids, id];
    },
    remove(id) {
      ids = ids.filter((other) => other !== id);
    },
  };
}
