import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

async function insertStacks(
  tx: Tx,
  stacks: readonly { id: string; assets: readonly string[] }[],
): Promise<void> {
  const rows = stacks.flatMap(({ id, assets }) => assets.map((asset, place) => ({ id, asset, place })));
  // Arrays, because a statement has at most 65,535 parameters. Another process may stack the same assets at this moment.
  await sql`insert into stacked_assets (stack_id, asset_id, place)
    select * from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ asset }) => asset)}::uuid[],
      ${rows.map(({ place }) => place)}::integer[])
    on conflict (asset_id) do update set stack_id = excluded.stack_id, place = excluded.place`.execute(tx);
}

/** Makes one stack of assets, the first one on top, and returns its id. They leave their stacks, of which none keeps one asset alone. */
export async function stackAssets(tx: Tx, assets: readonly string[]): Promise<string> {
  // In one order, because concurrent changes may end each other's stacks.
  await sql`select from stacked_assets where stack_id in (
      select stack_id from stacked_assets where asset_id = any(${[...assets]}::uuid[]))
    order by asset_id for update`.execute(tx);
  const { rows: former } = await sql<{ stack_id: string }>`
    delete from stacked_assets where asset_id = any(${[...assets]}::uuid[]) returning stack_id`.execute(tx);
  const id = randomUUID();
  await insertStacks(tx, [{ id, assets }]);
  await sql`delete from stacked_assets alone where alone.stack_id = any(${former.map((row) => row.stack_id)}::uuid[])
    and not exists (select from stacked_assets other
      where other.stack_id = alone.stack_id and other.asset_id <> alone.asset_id)`.execute(tx);
  return id;
}

/** Stacks groups of assets, of which none is in a stack yet, and returns how many it stacked. */
export async function stackFree(tx: Tx, groups: readonly (readonly string[])[]): Promise<number> {
  const { rows } = await sql<{ asset_id: string }>`
    select asset_id from stacked_assets where asset_id = any(${groups.flat()}::uuid[])`.execute(tx);
  const stacked = new Set(rows.map(({ asset_id }) => asset_id));
  const free = groups.filter((group) => group.length > 1 && !group.some((id) => stacked.has(id)));
  if (free.length > 0)
    await insertStacks(
      tx,
      free.map((assets) => ({ id: randomUUID(), assets })),
    );
  return free.length;
}
