/**
 * Returns the path if it leads to a page of this library, otherwise null (SSO-23): one `/`, then neither `/` nor `\`, and
 * without characters that browsers remove from addresses.
 */
export function returnPath(path: string | undefined): string | null {
  if (path === undefined || !/^\/(?![/\\])[^\p{Cc}\s\\]*$/u.test(path)) return null;
  const here = 'https://library.invalid';
  return URL.canParse(path, here) && new URL(path, here).origin === here ? path : null;
}
