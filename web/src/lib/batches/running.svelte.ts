import { createContext } from 'svelte';

/** The batches that this page started and still shows. */
export interface Running {
  readonly ids: readonly string[];
  add(id: string): void;
  remove(id: string): void;
}

export const [getRunning, setRunning] = createContext<Running>();

const stored = 'vitrine:batches';

/** Returns the ids that were stored before a reload. */
function readStored(storage: Storage): readonly string[] {
  return (storage.getItem(stored) ?? '').split(' ').filter((id) => id !== '');
}

/** Creates the list, which survives reloads of the page. */
export function createRunning(storage: Storage): Running {
  let ids = $state.raw(readStored(storage));
  function put(next: readonly string[]) {
    ids = next;
    storage.setItem(stored, next.join(' '));
  }
  return {
    get ids() {
      return ids;
    },
    add: (id) => put([...ids.filter((other) => other !== id), id]),
    remove: (id) => put(ids.filter((other) => other !== id)),
  };
}
