import type { Act } from '../../act.svelte.ts';

/** An act whose dialog says only what is not said beside one of its controls. */
export function shownAct(act: Act, problem: () => string | undefined): Act {
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
