/** The caches of the service worker, and what they hold. Pages and the worker share this file. */

export const privatePrefix = 'vitrine-private-';

/** Returns the name of the cache with the responses to an account. */
export function privateName(ref: number): string {
  return `${privatePrefix}${ref}`;
}

/** Returns the name of the cache with the pages and scripts of a version. */
export function shellName(version: string): string {
  return `vitrine-shell-${version}`;
}

/** Deletes the responses that are cached for other accounts than this one; null deletes those of all accounts. */
export async function forgetPrivate(ref: number | null): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(privatePrefix));
  const others = names.filter((name) => ref === null || name !== privateName(ref));
  await Promise.all(others.map((name) => caches.delete(name)));
}

/** The paths of files with hashed names: in the shared folder, and in those of the languages. */
const hashed = /^\/_app\/(?:immutable|[A-Za-z-]+\.[0-9a-f]{8})\//;

/** Returns whether it is a file with a hashed name, which never changes. */
export function isScript({ pathname }: URL): boolean {
  return hashed.test(pathname);
}

const reads = new Set(
  ['setup/status', 'auth/me', 'appearance', 'previews', 'posts/featured'].map((path) => `/api/v1/${path}`),
);

/** Returns whether it is the address of a read that the feed starts with, whose response is kept for use offline. */
export function isOffline({ pathname, searchParams }: URL): boolean {
  if (pathname !== '/api/v1/posts') return reads.has(pathname);
  const names = [...searchParams.keys()];
  return names.every((name) => ['limit', 'sort', 'feed'].includes(name));
}
