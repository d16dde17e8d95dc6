import type { QueryKey } from '@tanstack/svelte-query';
import { createAct } from '../act.svelte.ts';
import type { Service } from '../service.ts';
import { readsUnderWay } from './reads.ts';

export interface LikeState {
  readonly liked: boolean;
  readonly like_count: number;
}

/** What can be liked, how it stands as it was read, and how a wish is sent and what came of it kept. */
export interface Likable {
  /** Names it among everything that can be liked. */
  readonly key: string;
  readonly state: LikeState;
  /** Where it is read: these queries, and all below them. */
  readonly reads: readonly QueryKey[];
  put(state: LikeState): void;
  /** Sends the wish and answers how it stands then. */
  send(liked: boolean): Promise<LikeState>;
}

/** A like that was pressed, until the service and everything that is shown agree with it. */
export interface Wish {
  known: LikeState;
  wanted: boolean;
  sending: boolean;
  presses: number;
}

export interface LikeSwitch {
  /** As it is to be shown. */
  readonly shown: LikeState;
  /** Why the last press did not hold, for people. */
  readonly problem: string | undefined;
  turn(): void;
}

function shownOf({ known, wanted }: Wish): LikeState {
  if (wanted === known.liked) return known;
  return { liked: wanted, like_count: Math.max(0, known.like_count + (wanted ? 1 : -1)) };
}

/**
 * Shows a like at once. Presses made while one is on its way turn the wish and are sent after it; a failure shows what
 * holds again. Answers of reads that began before all that are older than the wish, so it stands until they are in.
 */
export function createLike(service: Service, likable: () => Likable): LikeSwitch {
  const act = createAct(service);
  const { queries, wishes } = service;

  function begun({ key, state }: Likable): Wish {
    const wish = $state<Wish>({ known: state, wanted: state.liked, sending: false, presses: 0 });
    wishes.set(key, wish);
    return wish;
  }

  async function settle(wish: Wish, { key, reads, put, send }: Likable) {
    wish.sending = true;
    await act.run(async () => {
      while (wish.wanted !== wish.known.liked) {
        const sent = wish.wanted;
        wish.known = await send(sent);
        if (wish.known.liked !== sent) break;
      }
    });
    wish.sending = false;
    wish.wanted = wish.known.liked;
    put({ ...wish.known });
    const { presses } = wish;
    await readsUnderWay(queries, reads);
    // Pressed again meanwhile, it is for that press to end it.
    if (wish.presses !== presses) return;
    put({ ...wish.known });
    wishes.delete(key);
  }

  return {
    get shown() {
      const { key, state } = likable();
      const wish = wishes.get(key);
      return wish === undefined ? state : shownOf(wish);
    },
    get problem() {
      return act.problem;
    },
    turn() {
      const pressed = likable();
      const wish = wishes.get(pressed.key) ?? begun(pressed);
      wish.wanted = !wish.wanted;
      wish.presses += 1;
      if (!wish.sending) void settle(wish, pressed);
    },
  };
}
