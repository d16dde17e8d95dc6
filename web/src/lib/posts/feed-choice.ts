/** Which feed is shown, as the page's address says it. */
export interface FeedChoice {
  readonly feed: 'latest' | 'following';
  readonly sort: 'newest' | 'oldest';
  readonly drafts: boolean;
}

/** Reads the choice from an address. Only someone signed in follows anybody or has drafts. */
export function readFeedChoice(search: Pick<URLSearchParams, 'get'>, signedIn: boolean): FeedChoice {
  const show = signedIn ? search.get('show') : null;
  return {
    feed: show === 'following' ? 'following' : 'latest',
    sort: search.get('sort') === 'oldest' ? 'oldest' : 'newest',
    drafts: show === 'drafts',
  };
}

/** The address of a choice; what is usual is left out. */
export function feedAddress(choice: FeedChoice): string {
  const search = new URLSearchParams();
  if (choice.drafts) search.set('show', 'drafts');
  else if (choice.feed === 'following') search.set('show', 'following');
  if (choice.sort === 'oldest') search.set('sort', 'oldest');
  const text = search.toString();
  return text === '' ? '/' : `/?${text}`;
}
