import type { SessionUser } from '@vitrine/contract/identity';

/** Which feed is shown, as the page's address says it. */
export interface FeedChoice {
  readonly feed: 'latest' | 'following';
  readonly sort: 'newest' | 'oldest';
  readonly drafts: boolean;
}

const shipped: FeedChoice = { feed: 'latest', sort: 'newest', drafts: false };

/** What an address that says nothing shows this person (spec 2.11, default views); feeds there are none of yet fall back to the latest. */
export function usualChoice(user: Pick<SessionUser, 'default_views'> | null): FeedChoice {
  if (user === null) return shipped;
  const { feed, sort } = user.default_views;
  return {
    feed: feed === 'following' ? 'following' : 'latest',
    sort: sort === 'oldest' ? 'oldest' : 'newest',
    drafts: false,
  };
}

/** Reads the choice from an address. Only someone signed in follows anybody or has drafts. */
export function readFeedChoice(
  search: Pick<URLSearchParams, 'get'>,
  signedIn: boolean,
  usual: FeedChoice = shipped,
): FeedChoice {
  const show = signedIn ? search.get('show') : null;
  const sort = search.get('sort');
  return {
    feed: show === 'following' || show === 'latest' ? show : show === 'drafts' ? 'latest' : usual.feed,
    sort: sort === 'oldest' || sort === 'newest' ? sort : usual.sort,
    drafts: show === 'drafts',
  };
}

/** The address of a choice; what is usual is left out. */
export function feedAddress(choice: FeedChoice, usual: FeedChoice = shipped): string {
  const search = new URLSearchParams();
  if (choice.drafts) search.set('show', 'drafts');
  else if (choice.feed !== usual.feed) search.set('show', choice.feed);
  if (choice.sort !== usual.sort) search.set('sort', choice.sort);
  const text = search.toString();
  return text === '' ? '/' : `/?${text}`;
}
