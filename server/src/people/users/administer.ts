import { updateAdminUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent, recordEvents } from '../audit/record.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { waysToSignIn } from '../identity/ways-to-sign-in.ts';
import { keepingAnAdministrator } from '../roles/last-administrator.ts';
import { showAdminUsers } from './show-admin.ts';

const editable = ['display_name', 'fullname', 'email', 'language', 'quota_bytes', 'expires_at'] as const;

/** Sets when accounts expire; null: never. */
export async function writeExpiry(
  tx: Tx,
  caller: SignedIn,
  changes: readonly { ref: number; expires_at: string | null }[],
): Promise<void> {
  await sql`update users u set expires_at = c.expires_at, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c (ref bigint, expires_at timestamptz)
    where u.ref = c.ref`.execute(tx);
  const metadata = { changed: ['expires_at'] };
  const events = changes.map(({ ref }) => ({ event: 'user.updated', subjectUserRef: ref, metadata }));
  await recordEvents(tx, caller, events);
}

/** USER-19: changes what administrators may change of an account, its expiry included (USER-18). */
export const administer = handle(updateAdminUser, async (deps, { caller: asked, params, body }) => {
  const { language, ...columns } = patchOf(body, editable);
  const changed = [...Object.keys(columns), ...(language === undefined ? [] : ['language'])].sort();
  if (typeof columns.expires_at === 'string') checkInFuture('expires_at', columns.expires_at);
  const ways = await waysToSignIn(deps);
  const user = await keepingAnAdministrator(deps.db, asked, async (tx, caller) => {
    const { ref } = await administered(tx, caller, params.ref);
    if (changed.length > 0) {
      await tx
        .updateTable('users')
        .set({
          ...columns,
          ...(columns.email === undefined ? {} : { email_key: keyOfEmail(columns.email) }),
          ...(language === undefined
            ? {}
            : { preferences: sql`preferences || jsonb_build_object('language', ${language ?? ''}::text)` }),
          updated_at: sql`now()`,
        })
        .where('ref', '=', ref)
        .execute();
      await recordEvent(tx, caller, { event: 'user.updated', subjectUserRef: ref, metadata: { changed } });
    }
    const [shown] = await showAdminUsers(tx, caller, ways, sql`u.ref = ${ref}`);
    if (shown === undefined) throw notFound();
    return shown;
  });
  return { status: 200, body: user };
});
