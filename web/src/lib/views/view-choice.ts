import type { FeedViewQuery } from '@vitrine/contract/feed-views';
import type { FeedChoice } from '#lib/posts/feed-choice.ts';

/** Returns the feed choice of a saved view. Its layout and search text are for other clients. */
export function choiceOf(query: FeedViewQuery): FeedChoice {
  return {
    feed: query.feed ?? 'latest',
    sort: query.sort ?? 'newest',
    drafts: false,
    ...(query.tag === undefined || query.tag.length === 0 ? {} : { tags: query.tag }),
    ...(query.author_ref === undefined ? {} : { author: query.author_ref }),
    ...(query.team_id === undefined ? {} : { team: query.team_id }),
    ...(query.origin === undefined ? {} : { origin: query.origin }),
  };
}

/** Returns the query with which a view saves the choice. */
export function queryOf({ feed, sort, tags, author, team, origin }: FeedChoice): FeedViewQuery {
  return {
    feed,
    sort,
    ...(tags === undefined ? {} : { tag: [...tags] }),
    ...(author === undefined ? {} : { author_ref: author }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(origin === undefined ? {} : { origin }),
  };
}

const kinds = { latest: 'Latest', trending: 'Trending', following: 'Following', team: 'Teams' } as const;

/** Suggests a name for a view. */
export function nameFor({ feed, tags = [] }: FeedChoice): string {
  return (tags.length === 0 ? kinds[feed] : tags.join(', ')).slice(0, 100);
}
