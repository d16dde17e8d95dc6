import type { ServiceMutation } from '#lib/service-mutation.svelte.ts';

/** An action whose dialog shows only errors that are not shown beside a control. */
export function withProblem(mutation: ServiceMutation, problem: () => string | undefined): ServiceMutation {
  return {
    get busy() {
      return mutation.busy;
    },
    get problem() {
      return problem();
    },
    get error() {
      return mutation.error;
    },
    run: mutation.run,
    forget: mutation.forget,
  };
}
