import { CallError } from '@vitrine/contract/client';
import { SvelteSet } from 'svelte/reactivity';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';
import { refreshCollection } from './queries.ts';
import { heldTo, type Step, withStep } from './steps.ts';

/** Arranges a collection: the order is shown immediately, and its steps are sent one by one. */
export interface Arranging {
  /** Whether steps are being sent or waiting. */
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** Returns the order to display for the loaded one. */
  orderOf(read: readonly string[]): readonly string[];
  /** Shows a temporary order during a drag. */
  show(ids: readonly string[]): void;
  /** Shows reloaded items unless steps are being sent. */
  release(): void;
  take(step: Step): void;
}

const overtaken = 'the collection has changed; this is its current state';

/** Each move names the following item, not an index, so that concurrent changes of others are kept. */
export function createArranging(service: Service, id: string): Arranging {
  const mutation = createServiceMutation(service);
  let shown = $state.raw<readonly string[]>();
  const taken = new SvelteSet<string>();
  let waiting = $state.raw<readonly Step[]>([]);
  let held = false;

  async function send(step: Step): Promise<void> {
    const { client } = service;
    const { item } = step;
    if (step.kind === 'remove') {
      if (item.kind === 'post')
        await client.call('removeFromCollection', { params: { id, post_id: item.id } });
      else await client.call('removeAssetFromCollection', { params: { id, asset_id: item.id } });
      return;
    }
    const named = item.kind === 'post' ? { post_id: item.id } : { asset_id: item.id };
    await client.call('orderCollection', { params: { id }, body: { ...named, before: step.before } });
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
    showServerOrderWhenIdle();
  }

  function showServerOrderWhenIdle(): void {
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
      showServerOrderWhenIdle();
    },
    take(step) {
      held = false;
      if (step.kind === 'remove') taken.add(step.item.id);
      waiting = withStep(waiting, step);
      if (!mutation.busy) void sendAll();
    },
  };
}
