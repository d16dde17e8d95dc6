import { sql } from 'kysely';
import { expect } from 'vitest';
import { decisiveAssets } from './decisive.ts';
import type { AssetCell, Switches } from './due.ts';
import type { Ledger } from './ledger.ts';
import { byAssets, type CallerKind } from './matrix.ts';
import type { Caller, World } from './world.ts';

/** The environment of every surface of the matrix: one world, and the ledger of its responses. */
export interface Matrix {
  world: World;
  ledger: Ledger;
}

/** Few connections, because each plans the thousand statements of all kinds of callers itself. */
export const POOL = 2;

const isDisguised = ({ name, kind }: Caller) => name !== kind;

/** `ACCESS_MATRIX=all` tests every cell with every caller, which takes several times as long. */
export const asksAll = process.env.ACCESS_MATRIX === 'all';

/** Returns the caller's number, by which callers alternate. */
export const seedOf = ({ name }: Caller): number =>
  Array.from(name).reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7);

/** Above this number of cells, each caller requests a smaller part: many callers request each kind of cell anyway. */
const MANY = 100;

/**
 * Returns a fifth of the cells, or a tenth of many, a different part for each caller, so that as large a part of the
 * callers tests each cell. The parts follow a hash of the index: neighbouring cells differ in one property, which no
 * part may omit.
 */
export function ownPart<T>(caller: Caller, cells: readonly T[]): readonly T[] {
  if (asksAll) return cells;
  const oneIn = cells.length > MANY ? 10 : 5;
  const seed = seedOf(caller);
  const isAsked = (index: number) => {
    const mixed = Math.imul((index + 1) ^ seed, 0x9e3779b1);
    return ((mixed ^ (mixed >>> 15)) >>> 16) % oneIn === 0;
  };
  return cells.filter((_, index) => isAsked(index));
}

/** One in this many cells is tested with callers whom these rules do not distinguish, and with disguised callers. */
const PART = 16;

const isDistinguished = (caller: Caller, distinguished: readonly CallerKind[]) =>
  !isDisguised(caller) && distinguished.includes(caller.kind);

const partOf = <T>(cells: readonly T[]) => cells.filter((_, index) => index % PART === 0);

/** Returns the own part of these cells for callers whom these rules distinguish, and fewer for the others. */
export function portion<T>(
  caller: Caller,
  cells: readonly T[],
  distinguished: readonly CallerKind[],
): readonly T[] {
  return isDistinguished(caller, distinguished) ? ownPart(caller, cells) : partOf(cells);
}

/** Returns the assets to request individually: half of the decisive ones, or fewer for callers like many others. */
export function singleAssets(caller: Caller, cells: readonly AssetCell[]): readonly AssetCell[] {
  const decisive = decisiveAssets(caller.kind, cells);
  if (!isDistinguished(caller, byAssets)) return partOf(decisive);
  // Most of them are decisive for several callers.
  return decisive.filter((_, index) => asksAll || (index + seedOf(caller)) % 2 === 0);
}

export async function setSwitches(matrix: Matrix, { publicMode, matureAllowed }: Switches): Promise<void> {
  await matrix.world.library.setPublicMode(publicMode);
  await sql`insert into settings (key, value) values ('mature_allowed', ${JSON.stringify(matureAllowed)})
    on conflict (key) do update set value = excluded.value`.execute(matrix.world.library.deps.db);
}

export const usual: Switches = { publicMode: true, matureAllowed: true };

export const everythingHolds = ({ ledger }: Matrix) => expect(ledger.takeDifferences()).toEqual([]);
