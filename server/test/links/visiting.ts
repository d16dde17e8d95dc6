import type { NewShareLink, ShareLinkCreate } from '@vitrine/contract/links';
import { listenAt } from '../notifications/streams.ts';
import type { Answered, Visitor } from '../support/client.ts';
import type { Library } from '../support/library.ts';

/** Visitors of links in these tests have only the address. */

/** Creates a link as this account. */
export async function makeLink(
  account: Visitor,
  kind: 'posts' | 'assets' | 'collections',
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

/** Returns the ids of what an opened link shows. */
export async function shownIds(library: Library, token: string): Promise<string[]> {
  const { items } = await library.anonymous().ok('openLink', { params: { link: token } });
  return items.map(({ id }) => id);
}

/** Tries a password, and returns the response with the cookie that it sets. */
export async function unlock(library: Library, token: string, password: string) {
  const init = { method: 'POST', body: { password } };
  const answer = await library.anonymous().send(`/links/${token}/unlock`, init);
  const set = answer.headers.get('set-cookie') ?? '';
  return { ...answer, set, cookie: set.split(';')[0] ?? '' };
}

/** Returns all paths of a link, with the paths of this asset below it. */
export function addressesOf(token: string, assetId: string): string[] {
  const link = `/links/${token}`;
  const files = ['variants/col', 'media', 'tiles/0/0_0', 'subtitles/de', 'file'];
  const all = [`${link}/archive`, `${link}/events`];
  return [link, ...files.map((file) => `${link}/assets/${assetId}/${file}`), ...all];
}

/** Returns functions that open links of a library as guests do. */
export function guestsOf(library: Library) {
  /** A browser that has opened a link: sends requests below it with the cookie that it was given last. */
  function browser({ token }: { token: string }) {
    let cookie = '';
    const send = async (method: string, path: string, body?: unknown) => {
      const answer = await library.anonymous().send(`/links/${token}${path}`, {
        method,
        headers: { cookie },
        ...(body === undefined ? {} : { body }),
      });
      cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
      return { ...answer, body: answer.text === '' ? null : JSON.parse(answer.text) };
    };
    return {
      send,
      name: (name: string) => send('POST', '/guest', { name }),
      pick: (id: string) => send('PUT', `/picks/${id}`),
      unpick: (id: string) => send('DELETE', `/picks/${id}`),
      decide: (body: unknown) => send('POST', '/decide', body),
      comment: (body: unknown) => send('POST', '/comments', body),
      annotate: (body: unknown) => send('POST', '/annotations', body),
      comments: async () => (await send('GET', '/comments')).body.items,
      open: async () => (await send('GET', '')).body,
      /** Opens the stream of the link. */
      follow: () => listenAt(library.address, `/links/${token}/events`, { cookie }),
      forget: () => {
        cookie = '';
      },
    };
  }

  async function newGuest(link: { token: string }, name: string) {
    const guest = browser(link);
    const { body, status } = await guest.name(name);
    if (status !== 200) throw new Error(`no guest: ${status}`);
    const id: string = body.id;
    return { ...guest, id };
  }

  return { browser, newGuest };
}
