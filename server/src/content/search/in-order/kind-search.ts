import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../access/caller.ts';
import { documentsOf, type Matching } from '../../search-index/matching.ts';

/** What to search for in a kind. */
export interface KindSearch {
  caller: Caller;
  kind: SearchKind;
  matching: Matching;
  /** Conditions on the row besides the rule of its kind. */
  filters: readonly RawBuilder<boolean>[];
  /** The score of a matching row. */
  score: RawBuilder<number>;
  way: 'newest' | 'oldest';
  /** Where to begin, as a time and a key; null for the start. */
  after: ((at: RawBuilder<unknown>, id: RawBuilder<unknown>) => RawBuilder<boolean>) | null;
  /** The row limit. Inlined, because generic plans do not know parameters. */
  most: number;
}

/** A part of a statement: its prerequisites, and rows of `key`, `at` and `score`. */
export interface InOrder {
  before: RawBuilder<unknown>[];
  rows: RawBuilder<unknown>;
}

/** A step of the statement: a query that later steps refer to by its name. */
type StepName =
  | 'first_documents'
  | 'scanned'
  | 'plan'
  | 'next_documents'
  | 'joined'
  | 'progress'
  | 'near'
  | 'beyond';

/** The plan for the documents after the first ones; the step `plan` chooses it. */
export type Plan = 'scan' | 'gather' | 'readable';

/** A search of a kind with the order of its documents, and the names of its steps. */
export interface OrderedSearch {
  search: KindSearch;
  /** The name of a step as a table. */
  step: (name: StepName) => RawBuilder<unknown>;
  direction: RawBuilder<unknown>;
  /** Compares a row with an earlier one. */
  comparison: RawBuilder<unknown>;
  /** The key of a document `d`. */
  key: RawBuilder<unknown>;
  /** The condition for documents `d` at which the search begins. */
  begins: RawBuilder<unknown>;
}

/** Returns the search with its order. The names of its steps begin with `name`. */
export function ordered(name: string, search: KindSearch): OrderedSearch {
  const { kind, way, after } = search;
  const key = sql.ref(`d.${documentsOf[kind].key}`);
  const isNewest = way === 'newest';
  return {
    search,
    step: (step) => sql.table(`${name}_${step}`),
    direction: isNewest ? sql`desc` : sql`asc`,
    comparison: isNewest ? sql`<` : sql`>`,
    key,
    begins: after === null ? sql`true` : after(sql`d.at`, key),
  };
}

/** A step with its query. */
export function stepOf({ step }: OrderedSearch, name: StepName, query: RawBuilder<unknown>) {
  return sql`${step(name)} as materialized (${query})`;
}

/** The condition for rows after the last row of a step; its subqueries are parameters of an index condition. */
export function isBeyond(
  { step, comparison }: OrderedSearch,
  name: 'plan' | 'progress',
  row: { at: RawBuilder<unknown>; key: RawBuilder<unknown> },
): RawBuilder<unknown> {
  return sql`(${row.at}, ${row.key}) ${comparison} ((select at from ${step(name)}), (select key from ${step(name)}))`;
}

/** Selects the last row of a step. */
export function lastOf({ search, step }: OrderedSearch, name: 'scanned' | 'joined'): RawBuilder<unknown> {
  const reverse = search.way === 'newest' ? sql`asc` : sql`desc`;
  return sql`(select w.at, w.key from ${step(name)} w
    order by w.at ${reverse}, w.key ${reverse} limit 1)`;
}

/** How many hits are still missing after a step, if this plan was chosen; otherwise 0, so that the plan does not run. */
export function missingAfter(
  { search, step }: OrderedSearch,
  name: 'plan' | 'progress',
  plan: Plan,
): RawBuilder<unknown> {
  return sql`(select case when plan = ${sql.lit(plan)} then greatest(${search.most} - found, 0) else 0 end from ${step(name)})`;
}

/** The documents in order, each with whether it is likely to match. */
export function documents(
  { search, direction, key }: OrderedSearch,
  where: RawBuilder<unknown>,
  limit: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`select d.*, ${search.matching.likely} as is_likely from (select * from ${sql.table(
    documentsOf[search.kind].table,
  )} d where ${where}
      order by d.at ${direction}, ${key} ${direction} limit ${limit}) d offset 0`;
}
