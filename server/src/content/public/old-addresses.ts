import { getAsset } from '@vitrine/contract/assets';
import type { Operation } from '@vitrine/contract/operation';
import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { readableAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import type { Database } from '../../platform/database/pool.ts';
import { Refusal } from '../../platform/http/refuse.ts';

/** An id that no asset has: its page is the one of every missing asset. */
const NO_ASSET = '00000000-0000-4000-8000-000000000000';

/** Returns the number of `/?r=123`, the address that resources have in ResourceSpace; null for any other address. */
function oldNumber(url: string): string | null {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const number = searchParams.get('r') ?? '';
  return pathname === '/' && /^[1-9]\d{0,11}$/.test(number) ? number : null;
}

async function findImported(db: Database, caller: Caller, number: string): Promise<string | null> {
  const found = await db
    .selectFrom('imported_ids')
    .select('target')
    .where('kind', '=', 'resource')
    .where('old_id', '=', number)
    .orderBy('imported_at')
    .execute();
  const ids = found.map(({ target }) => target);
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a where a.id = any(${ids}::uuid[]) and ${readableAssets(caller)} limit 1`.execute(
    db,
  );
  return rows[0]?.id ?? null;
}

/**
 * Returns where an old address of a resource leads for the caller of the request; null for any other address, and for
 * callers who have to sign in first. Unknown numbers and assets that the caller may not know of lead to the same page (IMPORT-8).
 */
export function oldAddresses(
  { db }: { db: Database },
  enter: (operation: Operation, request: FastifyRequest) => Promise<Caller>,
): (request: FastifyRequest) => Promise<string | null> {
  return async (request) => {
    const number = oldNumber(request.url);
    if (number === null) return null;
    try {
      const caller = await enter(getAsset, request);
      return `/assets/${(await findImported(db, caller, number)) ?? NO_ASSET}`;
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  };
}
