import type { Deps } from './deps.ts';
import { keepUsernameKeys } from './identity/username-keys.ts';
import type { JobHandler } from './job-table.ts';
import { keepTagKeys } from './tags/keys.ts';

/** Fills in the missing keys of names, at every start (NAME-3). */
export async function keepNameKeys(deps: Pick<Deps, 'db' | 'log'>): Promise<void> {
  await keepUsernameKeys(deps);
  await keepTagKeys(deps);
}

/** Fills in the keys of what a process of an earlier version creates during a rolling restart (NAME-2). */
export function keyNamesJob(deps: Pick<Deps, 'db' | 'log'>): JobHandler<'key-names'> {
  return () => keepNameKeys(deps);
}
