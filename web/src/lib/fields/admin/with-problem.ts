import type { ServiceMutation } from '#lib/service-mutation.svelte.ts';

/** An act whose dialog says only what is not said beside one of its controls. */
export function withProblem(mutation: ServiceMutation, problem: () => string | undefined): ServiceMutation {
  return {
    get busy() {
      return mutation.busy;
    },
    get problem() {
      return problem();
    },
    run: mutation.run,
    forget: mutation.forget,
  };
}
