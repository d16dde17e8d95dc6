import type { CollectionItem } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';

/**
 * What the service worker keeps of the posts that an account saved: its collections, their posts with the newest
 * comments, and pictures. All of it is in the cache of the account, which is deleted with it (APP-3).
 */

/** Limits of what is kept, so that a phone has room for it. */
const most = { collections: 12, posts: 60, pictures: 4 };

/** Pages that are opened within this time after the last read use the cache. */
const freshMs = 10 * 60 * 1000;

const shelf = '/api/v1/collections?limit=50&mine=true';

const reads =
  /^\/api\/v1\/(?:collections(?:\/[0-9a-f-]{36}(?:\/(?:posts|items))?)?|posts\/[0-9a-f-]{36}(?:\/comments)?)$/;
const pictures = /^\/api\/v1\/assets\/([0-9a-f-]{36})\/variants\/[a-z]+$/;

/** Returns whether it is the address of a read that is kept for a saved post. */
export function isSavedRead({ pathname }: URL): boolean {
  return reads.test(pathname);
}

/** Returns the address under which the picture of an asset is kept; undefined for everything but pictures. */
export function keptPicture({ pathname }: URL): string | undefined {
  const id = pictures.exec(pathname)?.[1];
  return id === undefined ? undefined : `/api/v1/assets/${id}/variants/preview`;
}

/** Returns whether a request changes what is saved. */
export function changesSaved({ method, url }: Pick<Request, 'method' | 'url'>): boolean {
  return /^(?:PUT|DELETE)$/.test(method) && /\/api\/v1\/collections\/[^/]+\/(?:posts|assets)\//.test(url);
}

interface Shelf {
  readonly items: readonly { readonly id: string; readonly has_files: boolean }[];
}

interface Reading {
  /** The cache of the account. */
  readonly cache: Pick<Cache, 'match' | 'put' | 'keys' | 'delete'>;
  readonly fetch: (address: string) => Promise<Response>;
  /** Returns whether the account is still signed in. */
  readonly isCurrent: () => boolean;
}

/** Returns whether the cache was filled recently. */
export async function isFresh(cache: Pick<Cache, 'match'>, now = Date.now()): Promise<boolean> {
  const readAt = (await cache.match(shelf))?.headers.get('date');
  return readAt != null && now - Date.parse(readAt) < freshMs;
}

const json = (body: unknown) =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

/** Returns a function that reads addresses into the cache, and remembers which. */
function reader({ cache, fetch, isCurrent }: Reading) {
  const wanted = new Set<string>();
  async function put(address: string, response: Response) {
    if (!isCurrent()) return;
    wanted.add(address);
    await cache.put(address, response);
  }
  return {
    wanted,
    put,
    async read<T>(address: string): Promise<T | undefined> {
      const response = await fetch(address);
      if (!response.ok || !isCurrent()) return undefined;
      const copy = response.clone();
      await put(address, response);
      return copy.json();
    },
    /** Reads what is not kept yet. */
    async readOnce(address: string) {
      wanted.add(address);
      if ((await cache.match(address)) !== undefined) return;
      const response = await fetch(address);
      if (response.ok) await put(address, response);
    },
  };
}

type Reader = ReturnType<typeof reader>;

async function readCollection({ read }: Reader, { id, has_files }: Shelf['items'][number]): Promise<Post[]> {
  await read(`/api/v1/collections/${id}`);
  if (!has_files)
    return (await read<{ items: Post[] }>(`/api/v1/collections/${id}/posts?limit=50`))?.items ?? [];
  const list = await read<{ items: CollectionItem[] }>(`/api/v1/collections/${id}/items?limit=50`);
  return (list?.items ?? []).flatMap(({ post }) => post ?? []);
}

/** Keeps a post as lists return it, its newest comments if there are others than before, and its first pictures. */
async function keepPost(to: Reader, cache: Reading['cache'], post: Post): Promise<void> {
  const address = `/api/v1/posts/${post.id}`;
  const comments = `${address}/comments?limit=20`;
  const before: Post | undefined = await (await cache.match(address))?.json();
  await to.put(address, json(post));
  if (post.comment_count === 0) await to.put(comments, json({ items: [], next_cursor: null }));
  else if (before?.comment_count === post.comment_count) await to.readOnce(comments);
  else await to.read(comments);
  const shown = post.members.flatMap((member) => (member.restricted ? [] : member.asset));
  const withPicture = shown.filter(({ ladder_available }) => ladder_available);
  for (const { id } of withPicture.slice(0, most.pictures))
    await to.readOnce(`/api/v1/assets/${id}/variants/preview`);
}

/** Caches the posts in the account's newest collections, and removes all others from the cache. */
export async function keepSavedPosts(reading: Reading): Promise<void> {
  const { cache, isCurrent } = reading;
  const to = reader(reading);
  const collections = await to.read<Shelf>(shelf);
  if (collections === undefined) return;
  const posts = new Map<string, Post>();
  for (const collection of collections.items.slice(0, most.collections))
    for (const post of await readCollection(to, collection)) posts.set(post.id, post);
  for (const post of [...posts.values()].slice(0, most.posts)) await keepPost(to, cache, post);
  if (!isCurrent()) return;
  for (const { url } of await cache.keys()) {
    const { pathname, search, href } = new URL(url);
    const isOfSaved = reads.test(pathname) || pictures.test(pathname);
    if (isOfSaved && !to.wanted.has(pathname + search)) await cache.delete(href);
  }
}
