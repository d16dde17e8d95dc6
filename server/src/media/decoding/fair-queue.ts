/** Slots that owners take in turn. */
export interface FairQueue {
  /** Resolves when this owner has a slot. Call the resolved function to release the slot. */
  take(owner: string): Promise<() => void>;
}

/**
 * Opens a queue for `workers` slots, plus `spare` slots for owners who hold none. Waiting owners take turns:
 * regardless of how many files one owner has sent, the next owner waits for at most one of them.
 */
export function openFairQueue({ workers, spare }: { workers: number; spare: number }): FairQueue {
  const held = new Map<string, number>();
  /** Waiting owners in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let taken = 0;

  const mayTake = (owner: string) =>
    taken < workers || (taken < workers + spare && (held.get(owner) ?? 0) === 0);

  const giveBack = (owner: string) => {
    taken -= 1;
    const left = (held.get(owner) ?? 0) - 1;
    if (left === 0) held.delete(owner);
    else held.set(owner, left);
    admit();
  };

  const admit = () => {
    for (const [owner, line] of waiting) {
      if (!mayTake(owner)) continue;
      const [next, ...others] = line;
      waiting.delete(owner);
      // Moves the owner to the end of the queue.
      if (others.length > 0) waiting.set(owner, others);
      taken += 1;
      held.set(owner, (held.get(owner) ?? 0) + 1);
      next?.();
      return admit();
    }
  };

  return {
    take: (owner) =>
      new Promise((resolve) => {
        let isGiven = false;
        const giveBackOnce = () => {
          if (isGiven) return;
          isGiven = true;
          giveBack(owner);
        };
        const line = waiting.get(owner) ?? [];
        line.push(() => resolve(giveBackOnce));
        waiting.set(owner, line);
        admit();
      }),
  };
}
