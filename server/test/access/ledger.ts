/** Counts the cells that were compared, and keeps those that differ. */
export interface Ledger {
  /** Compares one cell with `due`, the expectation of the table. Names may be computed lazily, as few are needed. */
  hold(cell: string | (() => string), got: unknown, due: unknown): void;
  /** Returns the differences since the last call, the first ones described. */
  takeDifferences(): string[];
  compared(): number;
}

const SHOWN = 12;

export function openLedger(): Ledger {
  let compared = 0;
  let differences: string[] = [];
  return {
    hold(cell, got, due) {
      compared += 1;
      if (got === due) return;
      const name = typeof cell === 'string' ? cell : cell();
      differences.push(`${name}\n  got: ${String(got)}\n  due: ${String(due)}`);
    },
    takeDifferences() {
      const [all, more] = [differences, differences.length - SHOWN];
      differences = [];
      return more > 0 ? [...all.slice(0, SHOWN), `and ${more} more`] : all;
    },
    compared: () => compared,
  };
}
