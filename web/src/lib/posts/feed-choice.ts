import type { PostSelection } from '@vitrine/contract/batches';
import type { OriginFilter } from '@vitrine/contract/federation';
import type { SessionUser } from '@vitrine/contract/identity';
import { readOrigin } from '#lib/federation/origin.ts';

/** The feed to show, as encoded in the address. Drafts have a separate page. */
export interface FeedChoice {
  readonly feed: 'latest' | 'trending' | 'following' | 'team';
  readonly sort: 'newest' | 'oldest';
  readonly drafts: boolean;
  /** Only posts with all of these tags. */
  readonly tags?: readonly string[];
  /** Only posts of one person or one team. A followed team has a chip; saved views may contain any team. */
  readonly author?: number;
  readonly team?: string;
  /** Only posts made here, at any peer, or at one peer. */
  readonly origin?: OriginFilter;
}

/** FEED-7: at most 10 tags. */
const mostTags = 10;

const shipped: FeedChoice = { feed: 'latest', sort: 'newest', drafts: false };

/** Returns the user's default choice, for an address without one (PREFERENCE-2). */
export function usualChoice(user: Pick<SessionUser, 'default_views'> | null): FeedChoice {
  if (user === null) return shipped;
  const { feed, sort } = user.default_views;
  return {
    feed: feed === '' ? 'latest' : feed,
    sort: sort === 'oldest' ? 'oldest' : 'newest',
    drafts: false,
  };
}

function readFeed(show: string | null, signedIn: boolean): FeedChoice['feed'] | undefined {
  if (show === 'latest' || show === 'trending') return show;
  return (show === 'following' || show === 'team') && signedIn ? show : undefined;
}

function readSort(sort: string | null): FeedChoice['sort'] | undefined {
  return sort === 'oldest' || sort === 'newest' ? sort : undefined;
}

function readNarrowing(search: Pick<URLSearchParams, 'get' | 'getAll'>): Partial<FeedChoice> {
  const given = search.getAll('tag').filter((tag) => tag !== '' && [...tag].length <= 64);
  const tags = [...new Set(given)].slice(0, mostTags);
  const author = /^[1-9]\d{0,14}$/.test(search.get('author') ?? '')
    ? Number(search.get('author'))
    : undefined;
  const team = search.get('team') ?? '';
  return {
    ...(tags.length === 0 ? {} : { tags }),
    ...(author === undefined ? {} : { author }),
    ...(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(team) ? { team } : {}),
    ...readOrigin(search),
  };
}

/** Returns whether any filter is set. */
export function isNarrowed({ tags, author, team, origin }: FeedChoice): boolean {
  return tags !== undefined || author !== undefined || team !== undefined || origin !== undefined;
}

/** Returns the choice with a tag added, or removed if it was set. */
export function withTag({ tags = [], ...choice }: FeedChoice, tag: string, on: boolean): FeedChoice {
  const others = tags.filter((chosen) => chosen !== tag);
  const next = on ? [...others, tag].slice(-mostTags) : others;
  return next.length === 0 ? choice : { ...choice, tags: next };
}

/** Returns the choice with a team set, or removed if it was set. */
export function withTeam({ team: _, ...choice }: FeedChoice, team: string | undefined): FeedChoice {
  return team === undefined ? choice : { ...choice, team };
}

/** Returns the choice with an origin set, or removed if it was set. */
export function withOrigin({ origin: _, ...choice }: FeedChoice, origin?: OriginFilter): FeedChoice {
  return origin === undefined ? choice : { ...choice, origin };
}

/** Reads the choice from an address. Only signed-in users have a following feed. */
export function readFeedChoice(
  search: Pick<URLSearchParams, 'get' | 'getAll'>,
  signedIn: boolean,
  usual: FeedChoice = shipped,
): FeedChoice {
  return {
    feed: readFeed(search.get('show'), signedIn) ?? usual.feed,
    sort: readSort(search.get('sort')) ?? usual.sort,
    drafts: false,
    ...readNarrowing(search),
  };
}

/** Returns the choice for drafts, in the order of the address. */
export function readDraftsChoice(search: Pick<URLSearchParams, 'get'>, usual: FeedChoice): FeedChoice {
  return { feed: 'latest', sort: readSort(search.get('sort')) ?? usual.sort, drafts: true };
}

/** Returns the address of a choice, omitting defaults. */
export function feedAddress(choice: FeedChoice, usual: FeedChoice = shipped): string {
  const search = new URLSearchParams();
  if (!choice.drafts && choice.feed !== usual.feed) search.set('show', choice.feed);
  if (choice.sort !== usual.sort) search.set('sort', choice.sort);
  if (!choice.drafts) {
    for (const tag of choice.tags ?? []) search.append('tag', tag);
    if (choice.author !== undefined) search.set('author', String(choice.author));
    if (choice.team !== undefined) search.set('team', choice.team);
    if (choice.origin !== undefined) search.set('origin', choice.origin);
  }
  const text = search.toString();
  return `${choice.drafts ? '/drafts' : '/'}${text === '' ? '' : `?${text}`}`;
}

/** Returns the name of the selection of a feed. */
export function selectionName(choice: FeedChoice): string {
  return `feed:${JSON.stringify(choice)}`;
}

/** Returns what selects the posts of a feed for a batch; undefined if no query does. */
export function postSelectionOf({
  feed,
  drafts,
  tags,
  author,
  team,
  origin,
}: FeedChoice): PostSelection | undefined {
  if (feed !== 'latest' || drafts || origin !== undefined) return undefined;
  return {
    ...(tags === undefined ? {} : { tag: [...tags] }),
    ...(author === undefined ? {} : { owner_ref: author }),
    ...(team === undefined ? {} : { team_id: team }),
  };
}
