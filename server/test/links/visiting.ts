import type { LinkView } from '@vitrine/contract/link-visits';
import type { NewShareLink, ShareLinkCreate } from '@vitrine/contract/links';
import type { Answered, Visitor } from '../support/client.ts';
import type { Library } from '../support/library.ts';

/** Visitors of links in these tests have only the address. */

type Kind = 'posts' | 'assets' | 'collections';

/** Creates a link as this account. */
export async function makeLink(
  account: Visitor,
  kind: Kind,
  id: string,
  body: ShareLinkCreate = {},
): Promise<NewShareLink> {
  const params = { id };
  if (kind === 'posts') return account.ok('createPostLink', { params, body });
  if (kind === 'assets') return account.ok('createAssetLink', { params, body });
  return account.ok('createCollectionLink', { params, body });
}

/** Opens a link without an account; `cookie` is the one that unlocking has set. */
export function open(library: Library, token: string, cookie?: string): Promise<Answered> {
  return visit(library, `/links/${token}`, cookie);
}

/** Sends a request below a link without an account. */
export function visit(library: Library, path: string, cookie?: string): Promise<Answered> {
  return library.anonymous().send(path, cookie === undefined ? {} : { headers: { cookie } });
}

/** Returns what an opened link shows. */
async function shown(library: Library, token: string): Promise<LinkView> {
  return library.anonymous().ok('openLink', { params: { link: token } });
}

export async function shownIds(library: Library, token: string): Promise<string[]> {
  return (await shown(library, token)).items.map(({ id }) => id);
}

/** Tries a password, and returns the response with the cookie that it sets. */
export async function unlock(library: Library, token: string, password: string) {
  const answer = await library
    .anonymous()
    .send(`/links/${token}/unlock`, { method: 'POST', body: { password } });
  const set = answer.headers.get('set-cookie') ?? '';
  return { ...answer, set, cookie: set.split(';')[0] ?? '' };
}

/** Returns all paths of a link, with the paths of this asset below it. */
export function addressesOf(token: string, assetId: string): string[] {
  const link = `/links/${token}`;
  return [
    link,
    `${link}/assets/${assetId}/variants/col`,
    `${link}/assets/${assetId}/media`,
    `${link}/assets/${assetId}/tiles/0/0_0`,
    `${link}/assets/${assetId}/subtitles/de`,
    `${link}/assets/${assetId}/file`,
    `${link}/archive`,
  ];
}
