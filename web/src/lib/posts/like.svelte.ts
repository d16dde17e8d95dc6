import type { QueryClient, QueryKey } from '@tanstack/svelte-query';
import { createContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';

interface LikeState {
  readonly liked: boolean;
  readonly like_count: number;
}

/** Something that can be liked: its state as read, and how to store and send a change. */
export interface Likable {
  /** Unique among everything that can be liked. */
  readonly key: string;
  readonly state: LikeState;
  /** Query keys whose results contain the state, including all keys below them. */
  readonly reads: readonly QueryKey[];
  put(state: LikeState): void;
  /** Sends the change and returns the resulting state. */
  send(liked: boolean): Promise<LikeState>;
}

/** A like that was pressed and is not yet confirmed by the service and by every query in flight. */
interface PendingLike {
  known: LikeState;
  wanted: boolean;
  sending: boolean;
  presses: number;
}

const [getPendingLikes, setPendingLikes] = createContext<SvelteMap<string, PendingLike>>();

/** Lets every like switch of the page share the pending likes, by `Likable.key`. */
export function sharePendingLikes(): void {
  setPendingLikes(new SvelteMap());
}

export interface LikeSwitch {
  /** The state to display, including a pending change. */
  readonly shown: LikeState;
  /** Why the last press failed, in words for the user. */
  readonly problem: string | undefined;
  turn(): void;
}

function shownOf({ known, wanted }: PendingLike): LikeState {
  if (wanted === known.liked) return known;
  return { liked: wanted, like_count: Math.max(0, known.like_count + (wanted ? 1 : -1)) };
}

/** Resolves once every read below these keys that is in flight now has settled. */
async function readsUnderWay(queries: QueryClient, keys: readonly QueryKey[]): Promise<void> {
  const cache = queries.getQueryCache();
  const reads = keys.flatMap((queryKey) => cache.findAll({ queryKey, fetchStatus: 'fetching' }));
  await Promise.allSettled(reads.map((query) => query.promise));
}

/**
 * Shows a like immediately. Presses made during a request toggle the pending like and are sent after it; a failure
 * restores the confirmed state. Reads that began earlier return stale state, so the pending like is kept until they settle.
 */
export function createLike(service: Service, likable: () => Likable): LikeSwitch {
  const mutation = createServiceMutation(service);
  const { queries } = service;
  const pendingLikes = getPendingLikes();

  function begun({ key, state }: Likable): PendingLike {
    const pending = $state<PendingLike>({ known: state, wanted: state.liked, sending: false, presses: 0 });
    pendingLikes.set(key, pending);
    return pending;
  }

  async function sendPending(pending: PendingLike, { key, reads, put, send }: Likable) {
    pending.sending = true;
    await mutation.run(async () => {
      while (pending.wanted !== pending.known.liked) {
        const sent = pending.wanted;
        pending.known = await send(sent);
        if (pending.known.liked !== sent) break;
      }
    });
    pending.sending = false;
    pending.wanted = pending.known.liked;
    put({ ...pending.known });
    const { presses } = pending;
    await readsUnderWay(queries, reads);
    // A later press removes the pending like itself.
    if (pending.presses !== presses) return;
    put({ ...pending.known });
    pendingLikes.delete(key);
  }

  return {
    get shown() {
      const { key, state } = likable();
      const pending = pendingLikes.get(key);
      return pending === undefined ? state : shownOf(pending);
    },
    get problem() {
      return mutation.problem;
    },
    turn() {
      const pressed = likable();
      const pending = pendingLikes.get(pressed.key) ?? begun(pressed);
      pending.wanted = !pending.wanted;
      pending.presses += 1;
      if (!pending.sending) void sendPending(pending, pressed);
    },
  };
}
