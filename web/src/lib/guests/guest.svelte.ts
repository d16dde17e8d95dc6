import type { Anchor } from '@vitrine/contract/annotations';
import type { Client } from '@vitrine/contract/client';
import type { GuestDecision, GuestState, LinkComment } from '@vitrine/contract/guests';
import type { LinkedAsset, LinkView } from '@vitrine/contract/link-visits';
import type { Operations } from '@vitrine/contract/operations';
import type { Stroke } from '@vitrine/contract/strokes';
import { SvelteMap } from 'svelte/reactivity';
import { problemText } from '#lib/problems.ts';

/** What a guest does at a link, while its page is open. */
export interface GuestVisit {
  readonly guest: GuestState | undefined;
  readonly comments: readonly LinkComment[];
  /** Whether there are older comments. */
  readonly more: boolean;
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** Returns whether a file is picked, including a change that is not yet confirmed. */
  isPicked(asset: LinkedAsset): boolean;
  giveName(name: string): Promise<boolean>;
  toggle(asset: LinkedAsset): Promise<boolean>;
  decide(decision: GuestDecision, note: string): Promise<boolean>;
  comment(body: string, assetId: string | undefined): Promise<boolean>;
  /** Comments on a place in a file, with a text, a drawing or both; undefined if that failed. */
  annotate(
    assetId: string,
    anchor: Anchor,
    what: { body?: string; strokes?: Stroke[] },
  ): Promise<LinkComment | undefined>;
  /** Reads the newest comments, or the older ones. */
  read(older?: boolean): Promise<boolean>;
  /** Reads the newest comments without blocking other actions; rejects with CallError. */
  refresh(): Promise<void>;
  /** Shows a new comment of a guest. */
  receive(comment: LinkComment): void;
  /** Hides a comment that was deleted. */
  remove(id: string): void;
  /** Shows the name of the guest, and whether they are muted. */
  become(guest: { readonly name: string; readonly muted: boolean }): void;
}

/** Comments per page. */
const PAGE = 200;

/** Creates the actions of a guest. They run one at a time; picks wait for each other and are shown at once. */
export function openGuestVisit(client: Client<Operations>, token: string, view: LinkView): GuestVisit {
  const picked = new SvelteMap<string, boolean>();
  let guest = $state.raw<GuestState | undefined>(view.guest);
  let comments = $state.raw<readonly LinkComment[]>([]);
  let cursor = $state.raw<string | null>(null);
  let busy = $state(false);
  let problem = $state<string>();

  async function run(work: () => Promise<unknown>): Promise<boolean> {
    if (busy) return false;
    busy = true;
    problem = undefined;
    try {
      await work();
      return true;
    } catch (error) {
      problem = problemText(error);
      return false;
    } finally {
      busy = false;
    }
  }

  /** Counts changes of the list: a response to an earlier request may lack them. */
  let changes = 0;

  function change(next: readonly LinkComment[]) {
    changes += 1;
    comments = next;
  }

  function receive(comment: LinkComment) {
    const isKnown = comments.some(({ id }) => id === comment.id);
    change(isKnown ? comments.map((one) => (one.id === comment.id ? comment : one)) : [comment, ...comments]);
  }

  const readPage = (from?: string) =>
    client.call('listGuestComments', {
      params: { token },
      query: { limit: PAGE, ...(from === undefined ? {} : { cursor: from }) },
    });

  async function refresh(): Promise<void> {
    const before = changes;
    const { items, next_cursor } = await readPage();
    if (before !== changes) return refresh();
    // Keeps the older comments that were read before.
    const last = next_cursor === null ? undefined : items.at(-1)?.id;
    const place = comments.findIndex(({ id }) => id === last);
    comments = place < 0 ? items : [...items, ...comments.slice(place + 1)];
    if (place < 0) cursor = next_cursor;
  }

  const isPicked = (asset: LinkedAsset) => picked.get(asset.id) ?? asset.picked ?? false;
  let lastPick: Promise<unknown> = Promise.resolve();
  /** The number of presses of each file: the response to an earlier press must not undo a later one. */
  const presses = new SvelteMap<string, number>();

  async function sendPick(id: string, isWanted: boolean, press: number): Promise<boolean> {
    const put = (state: boolean) => presses.get(id) === press && picked.set(id, state);
    try {
      const operation = isWanted ? 'pickLinkedAsset' : 'unpickLinkedAsset';
      const state = await client.call(operation, { params: { token, asset_id: id } });
      put(state.picked);
      if (guest !== undefined) guest = { ...guest, pick_count: state.pick_count };
      return true;
    } catch (error) {
      put(!isWanted);
      problem = problemText(error);
      return false;
    }
  }

  return {
    get guest() {
      return guest;
    },
    get comments() {
      return comments;
    },
    get more() {
      return cursor !== null;
    },
    get busy() {
      return busy;
    },
    get problem() {
      return problem;
    },
    isPicked,
    giveName: (name) =>
      run(async () => {
        const named = await client.call('nameGuest', { params: { token }, body: { name } });
        guest = { muted: false, pick_count: 0, decisions: { assets: [] }, ...guest, ...named };
      }),
    toggle(asset) {
      const isWanted = !isPicked(asset);
      const press = (presses.get(asset.id) ?? 0) + 1;
      presses.set(asset.id, press);
      picked.set(asset.id, isWanted);
      problem = undefined;
      const sent = lastPick.then(() => sendPick(asset.id, isWanted, press));
      lastPick = sent;
      return sent;
    },
    decide: (decision, note) =>
      run(async () => {
        const body = { decision, ...(note.trim() === '' ? {} : { note: note.trim() }) };
        const decisions = await client.call('decideAsGuest', { params: { token }, body });
        if (guest !== undefined) guest = { ...guest, decisions };
      }),
    comment: (body, assetId) =>
      run(async () => {
        const given = { body, ...(assetId === undefined ? {} : { asset_id: assetId }) };
        const made = await client.call('commentAsGuest', { params: { token }, body: given });
        receive(made);
      }),
    async annotate(assetId, anchor, what) {
      let made: LinkComment | undefined;
      await run(async () => {
        const body = { asset_id: assetId, anchor, ...what };
        made = await client.call('annotateAsGuest', { params: { token }, body });
        receive(made);
      });
      return made;
    },
    read: (older = false) =>
      run(async () => {
        if (!older || cursor === null) return refresh();
        const page = await readPage(cursor);
        change([...comments, ...page.items]);
        cursor = page.next_cursor;
      }),
    refresh,
    receive,
    remove: (removed) => change(comments.filter(({ id }) => id !== removed)),
    become(named) {
      if (guest !== undefined) guest = { ...guest, ...named };
    },
  };
}
