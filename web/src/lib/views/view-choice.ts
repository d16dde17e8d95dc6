import type { FeedViewQuery } from '@vitrine/contract/feed-views';
import type { FeedChoice } from '#lib/posts/feed-choice.ts';

/** What a saved view shows; how it is laid out and what it searches for is for programs that can. */
export function choiceOf(query: FeedViewQuery): FeedChoice {
  return {
    feed: query.feed ?? 'latest',
    sort: query.sort ?? 'newest',
    drafts: false,
    ...(query.tag === undefined || query.tag.length === 0 ? {} : { tags: query.tag }),
    ...(query.author_ref === undefined ? {} : { author: query.author_ref }),
    ...(query.team_id === undefined ? {} : { team: query.team_id }),
  };
}

/** The choice as a view keeps it. */
export function queryOf({ feed, sort, tags, author, team }: FeedChoice): FeedViewQuery {
  return {
    feed,
    sort,
    ...(tags === undefined ? {} : { tag: [...tags] }),
    ...(author === undefined ? {} : { author_ref: author }),
    ...(team === undefined ? {} : { team_id: team }),
  };
}

const kinds = { latest: 'Latest', trending: 'Trending', following: 'Following', team: 'Teams' } as const;

/** A name to begin with. */
export function nameFor({ feed, tags = [] }: FeedChoice): string {
  return (tags.length === 0 ? kinds[feed] : tags.join(', ')).slice(0, 100);
}
