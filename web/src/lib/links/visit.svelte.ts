import { CallError, type Client } from '@vitrine/contract/client';
import type { LinkedAsset, LinkView } from '@vitrine/contract/link-visits';
import type { Operations } from '@vitrine/contract/operations';
import { SvelteMap } from 'svelte/reactivity';
import { problemText } from '#lib/problems.ts';

type Words = LinkView['posts'][number];

/** Assets per page, enough for several screens. */
const PAGE = 60;

/** The state of a visit to a link, while its page is open. */
export interface Visit {
  readonly token: string;
  readonly status: 'loading' | 'shown' | 'locked' | 'gone' | 'failed';
  readonly view: LinkView | undefined;
  readonly items: readonly LinkedAsset[];
  readonly posts: ReadonlyMap<string, Words>;
  readonly more: boolean;
  readonly busy: boolean;
  /** Why the last request failed, as an error and in words for the visitor. */
  readonly failure: unknown;
  readonly problem: string | undefined;
  /** Opens the link, again after it was unlocked. */
  start(): Promise<void>;
  /** Loads the next page. */
  readOn(): Promise<void>;
}

/** Reads a link with the plain client: a 401 here is about the link, not about a session. */
export function openVisit(client: Client<Operations>, token: string): Visit {
  const posts = new SvelteMap<string, Words>();
  let status = $state<Visit['status']>('loading');
  let view = $state.raw<LinkView>();
  let items = $state.raw<readonly LinkedAsset[]>([]);
  let cursor = $state.raw<string | null>(null);
  let busy = $state(false);
  let failure = $state.raw<unknown>();

  const statusAfter = (error: unknown) => {
    if (!(error instanceof CallError)) return 'failed';
    if (error.status === 401) return 'locked';
    return error.status === 404 || error.status === 400 ? 'gone' : 'failed';
  };

  async function read(from: string | null) {
    if (busy) return;
    busy = true;
    failure = undefined;
    try {
      const query = { limit: PAGE, ...(from === null ? {} : { cursor: from }) };
      const page = await client.call('openLink', { params: { link: token }, query });
      for (const post of page.posts) posts.set(post.id, post);
      items = from === null ? page.items : [...items, ...page.items];
      cursor = page.next_cursor;
      view ??= page;
      status = 'shown';
    } catch (error) {
      status = statusAfter(error);
      failure = error;
      // The displayed content stays if only the connection was lost.
      if (status !== 'failed') view = undefined;
    } finally {
      busy = false;
    }
  }

  return {
    token,
    posts,
    get status() {
      return status;
    },
    get view() {
      return view;
    },
    get items() {
      return items;
    },
    get more() {
      return cursor !== null;
    },
    get busy() {
      return busy;
    },
    get failure() {
      return failure;
    },
    get problem() {
      return failure === undefined ? undefined : problemText(failure);
    },
    start: () => read(null),
    readOn: () => (cursor === null ? Promise.resolve() : read(cursor)),
  };
}
