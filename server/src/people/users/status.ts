import { setUserStatus } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import { handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { keepingAnAdministrator } from '../roles/last-administrator.ts';
import { showAdminUsers } from './show-admin.ts';
import { waysToSignIn } from './sign-in-state.ts';

/** Only active accounts may sign in or stay signed in: sessions and tokens check the status on each request. */
export const setStatus = handle(setUserStatus, async (deps, { caller: asked, params, body }) => {
  const ways = await waysToSignIn(deps);
  const user = await keepingAnAdministrator(deps.db, asked, async (tx, caller) => {
    const { ref } = await administered(tx, caller, params.ref);
    await tx
      .updateTable('users')
      .set({ status: body.status, status_provider: null, updated_at: sql`now()` })
      .where('ref', '=', ref)
      .execute();
    await recordEvent(tx, caller, {
      event: 'user.status.changed',
      subjectUserRef: ref,
      metadata: { status: body.status, reason: body.reason ?? null },
    });
    const [shown] = await showAdminUsers(tx, caller, ways, sql`u.ref = ${ref}`);
    if (shown === undefined) throw notFound();
    return shown;
  });
  return { status: 200, body: user };
});
