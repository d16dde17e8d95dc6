import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Switches } from './due.ts';
import type { Ledger } from './ledger.ts';
import type { Standing } from './matrix.ts';
import type { Caller, World } from './world.ts';

/** What every surface of the matrix is asked in: one world, and the ledger of what it answered. */
export interface Matrix {
  world: World;
  ledger: Ledger;
}

const isDisguised = ({ name, standing }: Caller) => name !== standing;

/** Everything for those whom these rules tell apart, a part for the others and for those who come in disguise. */
const PART = 8;
export function portion<T>(
  caller: Caller,
  cells: readonly T[],
  distinguished: readonly Standing[],
): readonly T[] {
  const isAskedAll = !isDisguised(caller) && distinguished.includes(caller.standing);
  return isAskedAll ? cells : cells.filter((_, index) => index % PART === 0);
}

export async function setSwitches(matrix: Matrix, { publicMode, matureAllowed }: Switches): Promise<void> {
  await matrix.world.library.setPublicMode(publicMode);
  await sql`insert into settings (key, value) values ('mature_allowed', ${JSON.stringify(matureAllowed)})
    on conflict (key) do update set value = excluded.value`.execute(matrix.world.library.deps.db);
}

export const usual: Switches = { publicMode: true, matureAllowed: true };

export const everythingHolds = ({ ledger }: Matrix) => expect(ledger.takeDifferences()).toEqual([]);
