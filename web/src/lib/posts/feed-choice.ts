import type { SessionUser } from '@vitrine/contract/identity';

/** Which feed is shown, as the page's address says it. Drafts have a page of their own. */
export interface FeedChoice {
  readonly feed: 'latest' | 'trending' | 'following';
  readonly sort: 'newest' | 'oldest';
  readonly drafts: boolean;
}

const shipped: FeedChoice = { feed: 'latest', sort: 'newest', drafts: false };

/** What an address that says nothing shows this person (spec 2.11, default views); feeds there are none of yet fall back to the latest. */
export function usualChoice(user: Pick<SessionUser, 'default_views'> | null): FeedChoice {
  if (user === null) return shipped;
  const { feed, sort } = user.default_views;
  return {
    feed: feed === 'following' || feed === 'trending' ? feed : 'latest',
    sort: sort === 'oldest' ? 'oldest' : 'newest',
    drafts: false,
  };
}

function readFeed(show: string | null, signedIn: boolean): FeedChoice['feed'] | undefined {
  if (show === 'latest' || show === 'trending') return show;
  return show === 'following' && signedIn ? show : undefined;
}

function readSort(sort: string | null): FeedChoice['sort'] | undefined {
  return sort === 'oldest' || sort === 'newest' ? sort : undefined;
}

/** Reads the choice from an address. Only someone signed in follows anybody. */
export function readFeedChoice(
  search: Pick<URLSearchParams, 'get'>,
  signedIn: boolean,
  usual: FeedChoice = shipped,
): FeedChoice {
  return {
    feed: readFeed(search.get('show'), signedIn) ?? usual.feed,
    sort: readSort(search.get('sort')) ?? usual.sort,
    drafts: false,
  };
}

/** The drafts in the order their address asks for. */
export function readDraftsChoice(search: Pick<URLSearchParams, 'get'>, usual: FeedChoice): FeedChoice {
  return { feed: 'latest', sort: readSort(search.get('sort')) ?? usual.sort, drafts: true };
}

/** The address of a choice; what is usual is left out. */
export function feedAddress(choice: FeedChoice, usual: FeedChoice = shipped): string {
  const search = new URLSearchParams();
  if (!choice.drafts && choice.feed !== usual.feed) search.set('show', choice.feed);
  if (choice.sort !== usual.sort) search.set('sort', choice.sort);
  const text = search.toString();
  return `${choice.drafts ? '/drafts' : '/'}${text === '' ? '' : `?${text}`}`;
}
