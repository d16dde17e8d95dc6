import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** Tags by name; `q` empty for all. */
export function tagsQuery({ client }: Service, q: string) {
  return infiniteQueryOptions({
    queryKey: ['tags', q],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listTags', { query: { ...pageParams(pageParam), ...(q === '' ? {} : { q }) }, signal }),
  });
}

/** One tag. */
export function tagQuery({ client }: Service, tag: string) {
  return queryOptions({
    queryKey: ['tag', tag],
    queryFn: ({ signal }) => client.call('getTag', { params: { tag }, signal }),
  });
}

/** Tags the person follows, the one followed last first. */
export function followedTagsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['followed-tags'],
    queryFn: async ({ signal }) => (await client.call('listFollowedTags', { signal })).map(({ tag }) => tag),
  });
}

/** What has a tag, newest first. Under `feed`, so that pictures in the making get fresh there too. */
export function tagPostsQuery({ client }: Service, tag: string) {
  return infiniteQueryOptions({
    queryKey: ['feed', { tag }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', { query: { ...pageParams(pageParam), tag: [tag] }, signal }),
  });
}

/** Reads anew what names or counts tags. */
export async function refreshTags({ queries }: Service): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['tags'] }),
    queries.invalidateQueries({ queryKey: ['tag'] }),
    queries.invalidateQueries({ queryKey: ['followed-tags'] }),
  ]);
}
