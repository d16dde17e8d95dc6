/** Converts the next files of an archive on all cores, while an earlier one is packed. */
export interface ConvertAhead {
  /** Names the files that come next, in their order. */
  next(ids: readonly string[]): void;
  /** Says that a file is packed now, so that more may begin. */
  reach(id: string): void;
  /** Returns how many files are ready that are not packed yet. */
  ready(): number;
  /** Begins no more. */
  stop(): void;
}

/** How many files may be ready for each that is converted at a time: the others wait, so that little room is used. */
const READY = 2;

/** `convert` makes the form of a file and keeps it. Its errors are those of packing the file, where they are reported. */
export function convertAhead(convert: (id: string) => Promise<unknown>, atOnce: number): ConvertAhead {
  let waiting: string[] = [];
  /** Files that were begun and are not packed yet. */
  const begun = new Set<string>();
  const ready = new Set<string>();
  let running = 0;

  function begin(): void {
    while (running < atOnce && begun.size < atOnce * (1 + READY)) {
      const id = waiting.shift();
      if (id === undefined) return;
      begun.add(id);
      running += 1;
      convert(id)
        .catch(() => undefined)
        .finally(() => {
          running -= 1;
          if (begun.has(id)) ready.add(id);
          begin();
        });
    }
  }

  return {
    next(ids) {
      waiting = ids.filter((id) => !begun.has(id));
      begin();
    },
    reach(id) {
      begun.delete(id);
      ready.delete(id);
      waiting = waiting.filter((other) => other !== id);
      begin();
    },
    ready: () => ready.size,
    stop() {
      waiting = [];
    },
  };
}
