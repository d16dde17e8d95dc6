import { type RawBuilder, sql } from 'kysely';
import { editableAssets, type Predicate, shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';

/**
 * Which asset of a stack stands for it. Predicates refer to a row of `assets` with the alias `a`; those that are given may be
 * evaluated for other rows of this alias, too.
 */

/**
 * Assets in no stack, and of each stack the first one that is visible (STACK-3). A scalar subquery, which PostgreSQL evaluates for
 * the rows of a page, where it could plan an `exists` as a hash over all stacks.
 */
export function standsForStack(visible: Predicate): Predicate {
  return sql`coalesce((select ${visible} and (
      select true from stacked_assets above join assets a on a.id = above.asset_id
      where above.stack_id = own.stack_id and (above.place, above.asset_id) < (own.place, own.asset_id) and ${visible}
      limit 1) is null
    from stacked_assets own where own.asset_id = a.id), true)`;
}

/** The stack of an asset, with the ids of those in it that the caller is shown. */
export interface StackOfAsset {
  id: string;
  assets: string[];
}

/** The stack of an asset `a`, the top first; null if the caller is shown no other asset of it (STACK-2). */
export function stackJson(caller: Caller): RawBuilder<StackOfAsset | null> {
  return sql`(select case when count(*) > 1 then
      json_build_object('id', own.stack_id, 'assets', json_agg(other.asset_id order by other.place, other.asset_id)) end
    from stacked_assets own join stacked_assets other on other.stack_id = own.stack_id
    where own.asset_id = a.id
      and coalesce((select ${shownAssets(caller)} from assets a where a.id = other.asset_id), false)
    group by own.stack_id)`;
}

/** Whether the caller may edit every asset `a` of a stack that is not in the trash (STACK-5). */
export function editsStack(caller: Caller, stackId: string): RawBuilder<boolean> {
  // `is true`: without a team the comparison is NULL, which `bool_and` ignores.
  return sql`coalesce((select bool_and((${editableAssets(caller)}) is true) from stacked_assets own
    join assets a on a.id = own.asset_id where own.stack_id = ${stackId} and a.deleted_at is null), false)`;
}
