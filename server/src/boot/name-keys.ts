import { keepTermKeys } from '../content/fields/vocabulary/keys.ts';
import { keepSavedNameKeys } from '../content/search/name-keys.ts';
import { keepFollowKeys } from '../content/tags/follow-keys.ts';
import { keepTagKeys } from '../content/tags/keys.ts';
import type { Deps } from '../core/deps.ts';
import type { JobHandler } from '../core/job-table.ts';
import { keyOfEmail } from '../people/identity/email-keys.ts';
import { keepUsernameKeys } from '../people/identity/username-keys.ts';
import { fillKeys } from '../platform/database/fill-keys.ts';

/** Fills in the missing keys of names, at every start (NAME-3). */
export async function keepNameKeys(deps: Pick<Deps, 'db' | 'log'>): Promise<void> {
  await keepUsernameKeys(deps);
  await keepFollowKeys(deps.db);
  await keepTagKeys(deps);
  await keepSavedNameKeys(deps);
  await keepTermKeys(deps);
  await fillKeys(
    deps.db,
    { table: 'users', name: 'email', key: 'email_key' },
    (email) => keyOfEmail(email) ?? '',
  );
}

/** Fills in the keys of what a process of an earlier version creates during a rolling restart (NAME-2). */
export function keyNamesJob(deps: Pick<Deps, 'db' | 'log'>): JobHandler<'key-names'> {
  return () => keepNameKeys(deps);
}
