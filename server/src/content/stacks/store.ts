import { randomUUID } from 'node:crypto';
import { mostStacked } from '@vitrine/contract/stacks';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';

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

/** An asset and its owner. */
export interface OwnedAsset {
  id: string;
  owner: number | null;
}

/**
 * Makes a stack of each group of assets, the first one on top. The assets leave their former stacks, and a stack that would keep a single asset ends. No
 * asset may be in two groups. Returns the single assets of the stacks that ended.
 */
export async function stackGroups(
  tx: Tx,
  stacks: readonly { id: string; assets: readonly string[] }[],
): Promise<OwnedAsset[]> {
  const all = stacks.flatMap(({ assets }) => assets);
  await lockPlaces(tx, sql`select stack_id from stacked_assets where asset_id = any(${all}::uuid[])`);
  const { rows: former } = await sql<{ stack_id: string }>`
    delete from stacked_assets where asset_id = any(${all}::uuid[]) returning stack_id`.execute(tx);
  await insertStacks(tx, stacks);
  const { rows: unstacked } = await sql<OwnedAsset>`delete from stacked_assets alone using assets a
    where alone.stack_id = any(${former.map((row) => row.stack_id)}::uuid[]) and a.id = alone.asset_id
      and not exists (select from stacked_assets other
        where other.stack_id = alone.stack_id and other.asset_id <> alone.asset_id)
    returning a.id, a.owner_user_ref as owner`.execute(tx);
  return unstacked;
}

/** Makes one stack of assets as `stackGroups` does. Returns its id, and the single assets of the stacks that ended. */
export async function stackAssets(
  tx: Tx,
  assets: readonly string[],
): Promise<{ id: string; unstacked: OwnedAsset[] }> {
  const id = randomUUID();
  return { id, unstacked: await stackGroups(tx, [{ id, assets }]) };
}

interface Place {
  asset_id: string;
  stack_id: string;
}

/** Returns the stacks in which some of these assets are, with all of their assets. */
async function stacksOf(db: Database, ids: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await sql<Place>`
    select asset_id, stack_id from stacked_assets where stack_id in (
      select stack_id from stacked_assets where asset_id = any(${[...ids]}::uuid[]))`.execute(db);
  const stacks = Map.groupBy(rows, ({ stack_id }) => stack_id);
  return new Map([...stacks].map(([id, places]) => [id, places.map(({ asset_id }) => asset_id)]));
}

/** Returns those of these assets that people have stacked or unstacked. */
async function stackedByPeople(db: Database, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ asset_id: string }>`select distinct asset_id from asset_changes
    where asset_id = any(${[...ids]}::uuid[]) and 'stack' = any(properties)`.execute(db);
  return new Set(rows.map(({ asset_id }) => asset_id));
}

/**
 * Returns the groups of assets that are to be stacked (STACK-6): not those in which people have stacked or unstacked an asset, nor
 * those with an asset of a stack that has others, or of an earlier group. A group may have grown since it was stacked. Of a
 * large group it returns as many as a stack may have.
 */
export async function unstackedGroups(
  db: Database,
  given: readonly (readonly string[])[],
): Promise<string[][]> {
  const groups = given.map((group) => [...new Set(group)].slice(0, mostStacked));
  const ids = groups.flat();
  const [stacks, settled] = [await stacksOf(db, ids), await stackedByPeople(db, ids)];
  const stackOf = new Map(
    [...stacks.values()].flatMap((members) => members.map((id) => [id, members] as const)),
  );
  const taken = new Set<string>();
  return groups.filter((group) => {
    const own = new Set(group);
    const former = new Set(group.flatMap((id) => stackOf.get(id) ?? []));
    const isNew = group.length > 1 && former.size < own.size && [...former].every((id) => own.has(id));
    if (!isNew || group.some((id) => taken.has(id) || settled.has(id))) return false;
    for (const id of group) taken.add(id);
    return true;
  });
}

/** Stacks the groups that `unstackedGroups` returns, and returns their number. */
export async function stackFound(tx: Tx, groups: readonly (readonly string[])[]): Promise<number> {
  const found = await unstackedGroups(tx, groups);
  if (found.length > 0)
    await stackGroups(
      tx,
      found.map((assets) => ({ id: randomUUID(), assets })),
    );
  return found.length;
}
