import { type RawBuilder, sql } from 'kysely';
import { publishedPost } from '../../access/posts.ts';

/** How many candidates are read, in multiples of the page; more when too few of them may be listed. */
const STEPS = [2, 40] as const;

/** The lists that a feed merges: posts `p` with this column among these keys, each once. */
export interface Lists {
  column: RawBuilder<unknown>;
  /** A query that returns the column `key`. */
  keys: RawBuilder<unknown>;
}

export interface Merged {
  lists: Lists;
  /** The rule for posts `p` in the feed. */
  rule: RawBuilder<boolean>;
  way: 'newest' | 'oldest';
  /** The start of the page. */
  after: RawBuilder<boolean>;
  most: number;
}

/**
 * Returns rows of `id` and `key` (the time) of a feed merged from many lists, each of which is ordered by an index. The
 * newest hundred posts of all lists are among the newest hundred of the hundred lists with the newest first posts, so
 * neither a list nor the feed is scanned. The rule is evaluated in order of time. If it rejects most posts, the next
 * step reads more; the rest is sorted at the end.
 */
export function mergedFeed({ lists: { column, keys }, rule, way, after, most }: Merged): RawBuilder<unknown> {
  const direction = way === 'newest' ? sql`desc` : sql`asc`;
  const beyond = way === 'newest' ? sql`<` : sql`>`;
  const inOrder = (alias: string) =>
    sql`${sql.ref(`${alias}.at`)} ${direction}, ${sql.ref(`${alias}.id`)} ${direction}`;
  const reversed = way === 'newest' ? sql`asc` : sql`desc`;
  const backwards = sql`c.at ${reversed}, c.id ${reversed}`;
  /** Candidates of one list; drafts and the trash are in no feed. */
  const ofList = (from: RawBuilder<boolean>, many: RawBuilder<unknown>) =>
    sql`(select p.posted_at as at, p.id from posts p where ${column} = l.key and ${publishedPost} and ${from}
      order by p.posted_at ${direction}, p.id ${direction} limit ${many})`;
  const listed = (candidates: RawBuilder<unknown>, many: RawBuilder<unknown>) =>
    sql`select c.at, c.id from ${candidates} c
      cross join lateral (select from posts p where p.id = c.id and ${rule} offset 0) x
      order by ${inOrder('c')} limit ${many}`;

  const parts: RawBuilder<unknown>[] = [sql`lists as materialized (${keys})`];
  let from = after;
  let left: RawBuilder<unknown> = sql`${most}`;
  STEPS.forEach((times, step) => {
    const table = (name: string) => sql.table(`${name}_${step}`);
    const [heads, candidates, found, state] = [
      table('heads'),
      table('candidates'),
      table('found'),
      table('state'),
    ];
    const many =
      step === 0 ? sql`${most * times}` : sql`(case when ${left} > 0 then ${most * times} else 0 end)`;
    parts.push(
      sql`${heads} as materialized (select l.key from lists l cross join lateral ${ofList(from, sql`1`)} h
        order by ${inOrder('h')} limit ${many})`,
      sql`${candidates} as materialized (select c.at, c.id from ${heads} l cross join lateral ${ofList(from, many)} c
        order by ${inOrder('c')} limit ${many})`,
      sql`${found} as materialized (${listed(sql`${candidates}`, left)})`,
      // Fewer candidates than requested: there are no others.
      sql`${state} as materialized (select last.at, last.id,
          case when n < ${many} then 0 else ${left} - (select count(*) from ${found}) end as wanted
        from (select count(*) as n from ${candidates}) counted
          left join lateral (select c.at, c.id from ${candidates} c order by ${backwards} limit 1) last
          on true)`,
    );
    left = sql`(select wanted from ${state})`;
    from = sql`(p.posted_at, p.id) ${beyond} ((select at from ${state}), (select id from ${state}))`;
  });
  parts.push(
    sql`others as materialized (${listed(
      sql`(select p.posted_at as at, p.id from posts p where ${column} in (select key from lists) and ${publishedPost}
        and ${from} order by p.posted_at ${direction}, p.id ${direction} offset 0)`,
      left,
    )})`,
  );
  const found = [...STEPS.keys()].map((step) => sql`select at, id from ${sql.table(`found_${step}`)}`);
  return sql`with ${sql.join(parts, sql`, `)}
    select f.id, f.at as key from (${sql.join(found, sql` union all `)} union all select at, id from others) f
    order by ${inOrder('f')}`;
}
