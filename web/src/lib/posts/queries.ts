import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
} from '@tanstack/svelte-query';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { Post } from '@vitrine/contract/posts';
import type { MissingWords } from '#lib/page-problems.ts';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { ReadKeys } from '#lib/selection/read-keys.ts';
import type { Service } from '#lib/service.ts';
import type { FeedChoice } from './feed-choice.ts';
import { withFreshAssets } from './refreshed.ts';

type FeedPage = AnswerOf<Operations['listPosts']>;
type Feed = InfiniteData<FeedPage, string>;

/** Milliseconds after which a window that regains the focus reloads its feed. */
const refreshAfter = 60_000;

function isOld({ state }: { readonly state: { readonly dataUpdatedAt: number } }): 'always' | false {
  return Date.now() - state.dataUpdatedAt > refreshAfter ? 'always' : false;
}

/**
 * Reads the feed page by page. A reload reads all loaded pages again, so it happens only when a window regains the
 * focus after a while, never while the reader is active.
 */
export function feedQuery({ client }: Service, choice: FeedChoice) {
  return infiniteQueryOptions({
    queryKey: ['feed', choice],
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: isOld,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', { query: { ...pageParams(pageParam), ...postsOf(choice) }, signal }),
  });
}

/** Returns the query of a feed without its page. */
function postsOf({ sort, drafts, feed, tags, author, team, origin }: FeedChoice) {
  return {
    sort,
    ...(drafts ? { draft: true } : { feed }),
    ...(tags === undefined ? {} : { tag: [...tags] }),
    ...(author === undefined ? {} : { author_ref: author }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(origin === undefined ? {} : { origin }),
  };
}

/** Returns a function that reads the ids of a feed, page by page. */
export function feedIds({ client }: Service, choice: FeedChoice): ReadKeys {
  return async (page) => {
    const { items, next_cursor } = await client.call('listPosts', { query: { ...page, ...postsOf(choice) } });
    return { items: items.map(({ id }) => id), next_cursor };
  };
}

function feedsOf(queries: QueryClient): Feed[] {
  return queries
    .getQueriesData<Feed>({ queryKey: ['feed'] })
    .flatMap(([, feed]) => (feed === undefined ? [] : [feed]));
}

/** Returns a post from a cached feed. */
export function postInFeed(queries: QueryClient, id: string): Post | undefined {
  for (const feed of feedsOf(queries)) {
    const post = feed.pages.flatMap((page) => page.items).find((shown) => shown.id === id);
    if (post !== undefined) return post;
  }
  return undefined;
}

export const missingPost: MissingWords = {
  heading: 'Post not found',
  message: 'It does not exist, or it is not shared with you.',
  back: { href: '/', label: 'To the feed' },
};

/** Reads one post. Shows a cached copy from a feed immediately, and polls while a picture is being processed. */
export function postQuery({ client, queries }: Service, id: string) {
  return queryOptions<Post>({
    queryKey: ['post', id],
    queryFn: ({ signal }) => client.call('getPost', { params: { id }, signal }),
    placeholderData: () => postInFeed(queries, id),
    refetchInterval: ({ state }) => (state.data?.members.some(isPending) ? 2000 : false),
  });
}

/** Reads a post to edit. The editor drops it when it closes, so that no form starts from an outdated state. */
export function editedPostQuery({ client }: Service, id: string) {
  return queryOptions<Post>({
    queryKey: ['editing', id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('getPost', { params: { id }, signal }),
  });
}

function isPending(member: Post['members'][number]): boolean {
  return !member.restricted && member.asset.processing_status === 'pending';
}

/** Returns the posts before and after one in a cached feed, if it is there. */
export function neighboursOf(
  queries: QueryClient,
  choice: FeedChoice,
  id: string,
): { before?: Post; after?: Post } {
  const posts = queries.getQueryData<Feed>(['feed', choice])?.pages.flatMap((page) => page.items) ?? [];
  const at = posts.findIndex((post) => post.id === id);
  if (at < 0) return {};
  const [before, after] = [posts[at - 1], posts[at + 1]];
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

/** Polls assets until they are processed, at increasing intervals. */
export function pendingQuery({ client }: Service, ids: readonly string[]) {
  return queryOptions<ShownAsset[]>({
    queryKey: ['pending', ids],
    enabled: ids.length > 0,
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state }) => Math.min(15_000, 1500 * 1.3 ** state.dataUpdateCount),
    queryFn: async ({ signal }) => {
      const answers = await Promise.allSettled(
        ids.map((id) => client.call('getAsset', { params: { id }, signal })),
      );
      return answers.flatMap((answer): ShownAsset[] =>
        answer.status === 'fulfilled' && !answer.value.restricted ? [answer.value] : [],
      );
    },
  });
}

function changeFeeds(queries: QueryClient, change: (posts: Post[]) => Post[]): void {
  queries.setQueriesData<Feed>({ queryKey: ['feed'] }, (feed) =>
    feed === undefined
      ? undefined
      : { ...feed, pages: feed.pages.map((page) => ({ ...page, items: change(page.items) })) },
  );
}

/** Updates assets in all cached feeds. */
export function putFreshAssets(queries: QueryClient, assets: readonly ShownAsset[]): void {
  const fresh = new Map(assets.map((asset) => [asset.id, asset]));
  changeFeeds(queries, (posts) => posts.map((post) => withFreshAssets(post, fresh)));
}

/** Updates a post wherever it is cached: in feeds and on its own page. */
export function changePost(queries: QueryClient, id: string, change: (post: Post) => Post): void {
  changeFeeds(queries, (posts) => posts.map((post) => (post.id === id ? change(post) : post)));
  queries.setQueryData<Post>(['post', id], (post) => (post === undefined ? undefined : change(post)));
}

/** Stores a post as returned by the service. */
export function putPost(queries: QueryClient, post: Post): void {
  queries.setQueryData<Post>(['post', post.id], post);
  changePost(queries, post.id, () => post);
}

/** Removes a post from all feeds and from the cache. */
export function forgetPost(queries: QueryClient, id: string): void {
  changeFeeds(queries, (posts) => posts.filter((post) => post.id !== id));
  queries.removeQueries({ queryKey: ['post', id] });
}

/** Invalidates all feeds, because a post may belong to others now. */
export function forgetFeeds(queries: QueryClient): void {
  queries.removeQueries({ queryKey: ['feed'] });
}
