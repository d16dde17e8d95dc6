import { CallError } from '@vitrine/contract/client';
import { SvelteSet } from 'svelte/reactivity';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';
import { refreshCollection } from './queries.ts';
import { heldTo, type Step, withStep } from './steps.ts';

/** Arranging a collection: the order shows at once, and the steps to it are sent one after the other. */
export interface Arranging {
  /** Whether steps are on their way or waiting for their turn. */
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** The order to show, given the one that was read. */
  orderOf(read: readonly string[]): readonly string[];
  /** Shows an order that is not decided yet. */
  show(ids: readonly string[]): void;
  /** Shows what was read again, unless something is on its way. */
  release(): void;
  take(step: Step): void;
}

const overtaken = 'somebody else changed this collection meanwhile; this is how it is now';

/** Each move says before which post, not at which number: what somebody else arranges meanwhile holds as well. */
export function createArranging(service: Service, id: string): Arranging {
  const mutation = createServiceMutation(service);
  let shown = $state.raw<readonly string[]>();
  const taken = new SvelteSet<string>();
  let waiting = $state.raw<readonly Step[]>([]);
  let held = false;

  async function send(step: Step): Promise<void> {
    const { client } = service;
    if (step.kind === 'remove') {
      await client.call('removeFromCollection', { params: { id, post_id: step.post } });
      return;
    }
    const { post, before } = step;
    await client.call('orderCollection', { params: { id }, body: { post_id: post, before } });
  }

  async function sendAll(): Promise<void> {
    const done = await mutation.run(async () => {
      for (let step = waiting[0]; step !== undefined; step = waiting[0]) {
        waiting = waiting.slice(1);
        try {
          await send(step);
        } catch (error) {
          if (!(error instanceof CallError) || error.status !== 404) throw error;
          throw new CallError(404, overtaken);
        }
      }
    });
    if (!done) waiting = [];
    await refreshCollection(service, id);
    settle();
  }

  function settle(): void {
    if (mutation.busy || waiting.length > 0 || held) return;
    shown = undefined;
    taken.clear();
  }

  return {
    get busy() {
      return mutation.busy || waiting.length > 0;
    },
    get problem() {
      return mutation.problem;
    },
    orderOf: (read) => (shown === undefined ? read : heldTo(shown, read, taken)),
    show(ids) {
      held = true;
      shown = ids;
    },
    release() {
      held = false;
      settle();
    },
    take(step) {
      held = false;
      if (step.kind === 'remove') taken.add(step.post);
      waiting = withStep(waiting, step);
      if (!mutation.busy) void sendAll();
    },
  };
}
