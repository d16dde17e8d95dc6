import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** Lists tags by name; an empty `q` lists all. */
export function tagsQuery({ client }: Service, q: string) {
  return infiniteQueryOptions({
    queryKey: ['tags', q],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listTags', { query: { ...pageParams(pageParam), ...(q === '' ? {} : { q }) }, signal }),
  });
}

/** Reads one tag. */
export function tagQuery({ client }: Service, tag: string) {
  return queryOptions({
    queryKey: ['tag', tag],
    queryFn: ({ signal }) => client.call('getTag', { params: { tag }, signal }),
  });
}

/** Lists the tags that the user follows, most recently followed first. */
export function followedTagsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['followed-tags'],
    queryFn: async ({ signal }) => (await client.call('listFollowedTags', { signal })).map(({ tag }) => tag),
  });
}

/**
 * Lists the posts with a tag, newest first. The key is under `feed`, so that processed pictures are updated there
 * too.
 */
export function tagPostsQuery({ client }: Service, tag: string) {
  return infiniteQueryOptions({
    queryKey: ['feed', { tag }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', { query: { ...pageParams(pageParam), tag: [tag] }, signal }),
  });
}

/** Reloads everything that names or counts tags. */
export async function refreshTags({ queries }: Service): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['tags'] }),
    queries.invalidateQueries({ queryKey: ['tag'] }),
    queries.invalidateQueries({ queryKey: ['followed-tags'] }),
  ]);
}
