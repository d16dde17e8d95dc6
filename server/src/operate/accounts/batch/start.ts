import { batchUsers, type UserSelection, userActions } from '@vitrine/contract/user-batches';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { checkHolds } from '../../../access/door.ts';
import { seesPersonalData } from '../../../access/identities.ts';
import { checkShape } from '../../../content/batches/actions.ts';
import { begin, exactlyOne } from '../../../content/batches/start.ts';
import type { Deps } from '../../../core/deps.ts';
import { handle } from '../../../core/handle.ts';
import { readerLanguage } from '../../../core/reader-language.ts';
import { accountsMatching } from '../../../people/users/list.ts';
import { accountAction } from './actions.ts';

/** Returns a query for the refs of the chosen accounts, each once. */
async function selectAccounts(
  deps: Deps,
  caller: SignedIn,
  given: { ids: readonly number[] } | { query: UserSelection },
): Promise<RawBuilder<unknown>> {
  if ('ids' in given)
    return sql`select id from unnest(${[...new Set(given.ids)]}::bigint[]) with ordinality as named (id, place)
      order by place`;
  checkHolds(caller, 'users.read');
  const matching = await accountsMatching(deps, given.query, seesPersonalData(caller));
  return sql`select u.ref as id ${matching} order by u.ref`;
}

/** `POST /admin/users/batch` (BATCH-13). */
export const ofUsers = handle(batchUsers, async (deps, { caller, body, http }) => {
  const { action } = body;
  checkShape(userActions, action);
  const objects = await selectAccounts(deps, caller, exactlyOne(body.ids, body.query));
  const asked = {
    stored: { subject: 'user' as const, action },
    run: accountAction(action),
    objects: async () => objects,
  };
  const answer = await begin(deps, caller, asked, {
    isDryRun: body.dry_run === true,
    language: readerLanguage(caller, http),
  });
  if (answer.status === 202) return answer;
  const refused = answer.body.refused.map((one) => ({ ...one, ids: one.ids.map(Number) }));
  return { status: 200, body: { ...answer.body, refused } };
});
