/** Pseudo-random numbers from a seed, the same on every machine: from 0 up to, but not including, 1 (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns a number between two others. */
export function between(random: Random, least: number, most: number): number {
  return least + random() * (most - least);
}

/** Returns an element of a list that is not empty. */
export function pick<T>(random: Random, [first, ...rest]: readonly [T, ...T[]]): T {
  return [first, ...rest][Math.floor(random() * (rest.length + 1))] ?? first;
}
