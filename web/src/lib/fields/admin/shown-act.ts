import type { ServiceMutation } from '#lib/service-mutation.svelte.ts';

/** An act whose dialog says only what is not said beside one of its controls. */
export function shownAct(act: ServiceMutation, problem: () => string | undefined): ServiceMutation {
  return {
    get busy() {
      return act.busy;
    },
    get problem() {
      return problem();
    },
    run: act.run,
    forget: act.forget,
  };
}
