import { sql } from 'kysely';
import { expect } from 'vitest';
import { decisiveAssets } from './decisive.ts';
import type { AssetCell, Switches } from './due.ts';
import type { Ledger } from './ledger.ts';
import { byAssets, type CallerKind } from './matrix.ts';
import type { Caller, World } from './world.ts';

/** What every surface of the matrix is asked in: one world, and the ledger of what it answered. */
export interface Matrix {
  world: World;
  ledger: Ledger;
}

const isDisguised = ({ name, kind }: Caller) => name !== kind;

/** `ACCESS_MATRIX=all` asks every caller about every cell; it takes about three times as long. */
export const asksAll = process.env.ACCESS_MATRIX === 'all';

/** A number of this caller, by which callers take turns. */
export const seedOf = ({ name }: Caller): number =>
  Array.from(name).reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7);

/**
 * A third of the cells, another third for every caller, so that each cell is asked about by a third of the callers. The
 * thirds follow a hash of the place: neighbouring cells differ in one property, which no third may leave out.
 */
export function third<T>(caller: Caller, cells: readonly T[]): readonly T[] {
  if (asksAll) return cells;
  const seed = seedOf(caller);
  const isAsked = (index: number) => {
    const mixed = Math.imul((index + 1) ^ seed, 0x9e3779b1);
    return ((mixed ^ (mixed >>> 15)) >>> 16) % 3 === 0;
  };
  return cells.filter((_, index) => isAsked(index));
}

/** Every so many cells are asked about by callers whom the rules at hand do not tell apart, and by those in disguise. */
const PART = 16;

const isDistinguished = (caller: Caller, distinguished: readonly CallerKind[]) =>
  !isDisguised(caller) && distinguished.includes(caller.kind);

const partOf = <T>(cells: readonly T[]) => cells.filter((_, index) => index % PART === 0);

/** A third of these cells for callers whom these rules tell apart, a part of them for the others. */
export function portion<T>(
  caller: Caller,
  cells: readonly T[],
  distinguished: readonly CallerKind[],
): readonly T[] {
  return isDistinguished(caller, distinguished) ? third(caller, cells) : partOf(cells);
}

/** The assets to request one at a time: the decisive ones, or a part of them for callers like many others. */
export function singleAssets(caller: Caller, cells: readonly AssetCell[]): readonly AssetCell[] {
  const decisive = decisiveAssets(caller.kind, cells);
  return isDistinguished(caller, byAssets) ? decisive : partOf(decisive);
}

export async function setSwitches(matrix: Matrix, { publicMode, matureAllowed }: Switches): Promise<void> {
  await matrix.world.library.setPublicMode(publicMode);
  await sql`insert into settings (key, value) values ('mature_allowed', ${JSON.stringify(matureAllowed)})
    on conflict (key) do update set value = excluded.value`.execute(matrix.world.library.deps.db);
}

export const usual: Switches = { publicMode: true, matureAllowed: true };

export const everythingHolds = ({ ledger }: Matrix) => expect(ledger.takeDifferences()).toEqual([]);
