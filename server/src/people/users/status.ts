import { setUserStatus, type UserStatus } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvents } from '../audit/record.ts';
import { waysToSignIn } from '../identity/ways-to-sign-in.ts';
import { keepingAnAdministrator } from '../roles/last-administrator.ts';
import { showAdminUsers } from './show-admin.ts';

/** Gives accounts a status. Directories do not change it afterwards (SCIM-12), except `provider`. */
export async function writeStatus(
  tx: Tx,
  caller: SignedIn,
  refs: readonly number[],
  {
    status,
    reason = null,
    provider = null,
  }: { status: UserStatus; reason?: string | null; provider?: string | null },
): Promise<void> {
  await sql`update users set status = ${status}, status_provider = ${provider}, updated_at = now()
    where ref = any(${[...refs]}::bigint[])`.execute(tx);
  const metadata = { status, reason };
  const events = refs.map((ref) => ({ event: 'user.status.changed', subjectUserRef: ref, metadata }));
  await recordEvents(tx, caller, events);
}

/** Only active accounts may sign in or stay signed in: sessions and tokens check the status on each request. */
export const setStatus = handle(setUserStatus, async (deps, { caller: asked, params, body }) => {
  const ways = await waysToSignIn(deps);
  const user = await keepingAnAdministrator(deps.db, asked, async (tx, caller) => {
    const { ref } = await administered(tx, caller, params.ref);
    await writeStatus(tx, caller, [ref], body);
    const [shown] = await showAdminUsers(tx, caller, ways, sql`u.ref = ${ref}`);
    if (shown === undefined) throw notFound();
    return shown;
  });
  return { status: 200, body: user };
});
