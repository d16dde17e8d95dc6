import type { FeedQuery } from '@vitrine/contract/posts';
import type { Visibility } from '@vitrine/contract/visibilities';
import { sql } from 'kysely';
import type { Visitor } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';

interface ManyPosts {
  author: Account;
  /** The members of each post in order. */
  members: readonly string[];
  count: number;
  visibility?: Visibility;
  draft?: boolean;
  /** The time of the first post; each further one is a second later. */
  from?: string;
  /** Whether all posts have the same time. */
  together?: boolean;
}

/** Inserts many posts; returns their ids, newest first. */
export async function addPosts({ deps: { db } }: Library, posts: ManyPosts): Promise<string[]> {
  const { author, members, count, visibility = 'org-only', draft = false } = posts;
  const { from = '2026-01-01T00:00:00Z', together = false } = posts;
  const { rows } = await sql<{ id: string }>`
    with made as (
      insert into posts (author_user_ref, visibility, state_id, posted_at, published_at)
      select ${author.ref}, ${visibility}, s.id, t.at, case when ${draft} then null else t.at end
      from workflow_states s, lateral (
        select ${from}::timestamptz + n * ${together ? 0 : 1} * interval '1 second' as at
        from generate_series(0, ${count - 1}) n) t
      where s.domain = 'post' and s.code = ${draft ? 'wip' : 'published'}
      returning id, posted_at),
    placed as (
      insert into post_members (post_id, asset_id, sort_order)
      select made.id, m.id, m.place - 1 from made, unnest(${[...members]}::uuid[]) with ordinality m (id, place))
    select id from made order by posted_at desc, id desc`.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the ids on all pages that a visitor receives for this query, in order. */
export async function everyPage(visitor: Visitor, query: FeedQuery): Promise<string[][]> {
  const pages = await pagesOf((from) => visitor.ok('listPosts', { query: { ...query, ...from } }));
  return pages.map((page) => page.map(({ id }) => id));
}

/** Returns the ids of all posts that a visitor receives for this query, in order. */
export const everyPost = async (visitor: Visitor, query: FeedQuery = {}): Promise<string[]> =>
  (await everyPage(visitor, query)).flat();
