import { randomUUID } from 'node:crypto';
import { mostStacked } from '@vitrine/contract/stacks';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

async function insertStacks(
  tx: Tx,
  stacks: readonly { id: string; assets: readonly string[] }[],
): Promise<void> {
  const rows = stacks.flatMap(({ id, assets }) => assets.map((asset, place) => ({ id, asset, place })));
  // Arrays, because a statement has at most 65,535 parameters. In one order, because another process may stack the same
  // assets at this moment.
  await sql`insert into stacked_assets (stack_id, asset_id, place)
    select * from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ asset }) => asset)}::uuid[],
      ${rows.map(({ place }) => place)}::integer[]) given (stack_id, asset_id, place) order by asset_id
    on conflict (asset_id) do update set stack_id = excluded.stack_id, place = excluded.place`.execute(tx);
}

/** Locks assets and their places in stacks in one order, which is that of a purge, so that changes cannot deadlock. */
async function lockPlaces(tx: Tx, stacks: RawBuilder<unknown>): Promise<void> {
  await sql`select from stacked_assets own join assets a on a.id = own.asset_id where own.stack_id in (${stacks})
    order by own.asset_id for key share of a for update of own`.execute(tx);
}

/** Locks a stack, so that its changes come one after the other. */
export function lockStack(tx: Tx, id: string): Promise<void> {
  return lockPlaces(tx, sql`${id}::uuid`);
}

/**
 * Makes a stack of each group of assets, the first one on top. They leave their stacks; one that would keep a single asset ends. No
 * asset is in two groups.
 */
export async function stackGroups(
  tx: Tx,
  stacks: readonly { id: string; assets: readonly string[] }[],
): Promise<void> {
  const all = stacks.flatMap(({ assets }) => assets);
  await lockPlaces(tx, sql`select stack_id from stacked_assets where asset_id = any(${all}::uuid[])`);
  const { rows: former } = await sql<{ stack_id: string }>`
    delete from stacked_assets where asset_id = any(${all}::uuid[]) returning stack_id`.execute(tx);
  await insertStacks(tx, stacks);
  await sql`delete from stacked_assets alone where alone.stack_id = any(${former.map((row) => row.stack_id)}::uuid[])
    and not exists (select from stacked_assets other
      where other.stack_id = alone.stack_id and other.asset_id <> alone.asset_id)`.execute(tx);
}

/** Makes one stack of assets as `stackGroups` does, and returns its id. */
export async function stackAssets(tx: Tx, assets: readonly string[]): Promise<string> {
  const id = randomUUID();
  await stackGroups(tx, [{ id, assets }]);
  return id;
}

/**
 * Stacks groups of assets, of which none is in a stack yet or in an earlier group, and returns how many it stacked. Of a larger group
 * it stacks as many as a stack may have (STACK-1).
 */
export async function stackFree(tx: Tx, given: readonly (readonly string[])[]): Promise<number> {
  const groups = given.map((group) => group.slice(0, mostStacked));
  const { rows } = await sql<{ asset_id: string }>`
    select asset_id from stacked_assets where asset_id = any(${groups.flat()}::uuid[])`.execute(tx);
  const stacked = new Set(rows.map(({ asset_id }) => asset_id));
  const free = groups.filter((group) => {
    if (group.length < 2 || group.some((id) => stacked.has(id))) return false;
    for (const id of group) stacked.add(id);
    return true;
  });
  if (free.length > 0)
    await insertStacks(
      tx,
      free.map((assets) => ({ id: randomUUID(), assets })),
    );
  return free.length;
}
