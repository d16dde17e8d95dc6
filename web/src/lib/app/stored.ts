/** What the service worker keeps, under which names. Pages and the worker share these names. */

export const privatePrefix = 'vitrine-private-';

/** The name of the cache with what an account has read. */
export function privateName(ref: number): string {
  return `${privatePrefix}${ref}`;
}

/** The name of the cache with the pages of a version. */
export function shellName(version: string): string {
  return `vitrine-shell-${version}`;
}

/** Deletes what was kept for accounts other than this one; null for all of them. */
export async function forgetPrivate(ref: number | null): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(privatePrefix));
  const others = names.filter((name) => ref === null || name !== privateName(ref));
  await Promise.all(others.map((name) => caches.delete(name)));
}

/** Files with hashed names: in the shared folder, and in those of the languages. */
const hashed = /^\/_app\/(?:immutable|[A-Za-z-]+\.[0-9a-f]{8})\//;

/** Returns whether it is a file with a hashed name, which never changes. */
export function isScript({ pathname }: URL): boolean {
  return hashed.test(pathname);
}

const reads = new Set(
  ['setup/status', 'auth/me', 'appearance', 'previews', 'posts/featured'].map((path) => `/api/v1/${path}`),
);

/** Returns whether it is a read that the feed shows first, which is kept for times without a connection. */
export function isOffline({ pathname, searchParams }: URL): boolean {
  if (pathname !== '/api/v1/posts') return reads.has(pathname);
  const names = [...searchParams.keys()];
  return names.every((name) => ['limit', 'sort', 'feed'].includes(name));
}
