import { createSubscriber } from 'svelte/reactivity';
import { span } from './span.ts';

/** The chosen items of one list. */
export interface Selection {
  /** The number of chosen items that are known by id. */
  readonly count: number;
  /** Whether all matches are chosen, also those that are not loaded. */
  readonly everything: boolean;
  /** Whether a click chooses instead of opening: something is chosen, or `choosing` is on. */
  readonly active: boolean;
  choosing: boolean;
  has(id: string): boolean;
  ids(): string[];
  /** Sets the loaded items in their order, which ranges follow. */
  setOrder(ids: readonly string[]): void;
  toggle(id: string): void;
  /** Chooses the range from the item that was toggled last; replaces the previous range from there. */
  extendTo(id: string): void;
  /** Adds items, without changing where ranges begin. */
  add(ids: Iterable<string>): void;
  remove(ids: Iterable<string>): void;
  chooseLoaded(): void;
  chooseEverything(): void;
  clear(): void;
}

/** Creates a selection in which nothing is chosen. */
export function createSelection(): Selection {
  // One signal for the whole set: a signal for each of tens of thousands of ids costs more than it saves.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- see above
  const chosen = new Set<string>();
  let changed = () => {};
  const subscribe = createSubscriber((update) => {
    changed = update;
    return () => {
      changed = () => {};
    };
  });
  let choosing = $state(false);
  let everything = $state(false);
  let order: readonly string[] = [];
  let anchor: string | undefined;
  let extended: readonly string[] = [];

  /** Chooses the loaded items in place of all matches, so that single ones can be taken out. */
  function becomeSingle() {
    if (!everything) return;
    everything = false;
    for (const id of order) chosen.add(id);
  }

  function put(ids: Iterable<string>, isChosen: boolean) {
    becomeSingle();
    for (const id of ids) {
      if (isChosen) chosen.add(id);
      else chosen.delete(id);
    }
    changed();
  }

  function startAt(id: string) {
    anchor = id;
    extended = [];
  }

  return {
    get count() {
      subscribe();
      return chosen.size;
    },
    get everything() {
      return everything;
    },
    get active() {
      subscribe();
      return choosing || everything || chosen.size > 0;
    },
    get choosing() {
      return choosing;
    },
    set choosing(on) {
      choosing = on;
    },
    has(id) {
      subscribe();
      return everything || chosen.has(id);
    },
    ids() {
      subscribe();
      return [...chosen];
    },
    setOrder(ids) {
      order = ids;
    },
    toggle(id) {
      becomeSingle();
      put([id], !chosen.has(id));
      startAt(id);
    },
    extendTo(id) {
      becomeSingle();
      if (anchor === undefined) startAt(id);
      const range = span(order, anchor ?? id, id);
      for (const previous of extended) chosen.delete(previous);
      put(range, true);
      extended = range;
    },
    add: (ids) => put(ids, true),
    remove: (ids) => put(ids, false),
    chooseLoaded: () => put(order, true),
    chooseEverything() {
      everything = true;
      changed();
    },
    clear() {
      chosen.clear();
      everything = false;
      choosing = false;
      anchor = undefined;
      extended = [];
      changed();
    },
  };
}
