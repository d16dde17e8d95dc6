import { createAct } from '../act.svelte.ts';
import type { Service } from '../service.ts';

export interface LikeState {
  readonly liked: boolean;
  readonly like_count: number;
}

/** What can be liked, and how its state is told, shown and sent. */
export interface Likable {
  read(): LikeState;
  put(state: LikeState): void;
  /** Sends the wish and answers how it stands then. */
  send(liked: boolean): Promise<LikeState>;
}

export interface LikeSwitch {
  /** Why the last press did not hold, for people. */
  readonly problem: string | undefined;
  turn(): void;
}

/** Shows a like at once. Presses made while one is on its way are sent after it; a failure shows what holds again. */
export function createLike(service: Service, likable: Likable): LikeSwitch {
  const act = createAct(service);
  let wanted = false;
  let known: LikeState = { liked: false, like_count: 0 };

  async function settle() {
    if (act.busy) return;
    await act.run(async () => {
      while (wanted !== known.liked) {
        const sent = wanted;
        known = await likable.send(sent);
        if (known.liked !== sent) break;
      }
    });
    likable.put(known);
  }

  return {
    get problem() {
      return act.problem;
    },
    turn() {
      const now = likable.read();
      if (!act.busy) known = now;
      wanted = !now.liked;
      likable.put({ liked: wanted, like_count: Math.max(0, now.like_count + (wanted ? 1 : -1)) });
      void settle();
    },
  };
}
