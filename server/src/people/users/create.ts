import { createUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import { handle } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { createAccount } from '../identity/accounts.ts';
import { waysToSignIn } from '../identity/ways-to-sign-in.ts';
import { capabilitiesOfRole, findRole } from '../roles/roles.ts';
import { showAdminUsers } from './show-admin.ts';

const DEFAULT_ROLE = 'member';

/** An account without a password can sign in once it has one. */
export const create = handle(createUser, async (deps, { caller, body }) => {
  const { db, passwords } = deps;
  const role = await findRole(db, sql`code = ${body.role ?? DEFAULT_ROLE}`);
  if (role === null) throw refuse('role-not-found');
  checkMayGive(caller, await capabilitiesOfRole(db, role.id));
  const ways = await waysToSignIn(deps);
  const user = await db.transaction().execute(async (tx) => {
    const ref = await createAccount(tx, passwords, {
      username: body.username,
      password: body.password ?? null,
      role: role.code,
      ...(body.fullname == null ? {} : { fullname: body.fullname }),
      ...(body.email == null ? {} : { email: body.email }),
    });
    if (ref === null) throw refuse('username-taken');
    await recordEvent(tx, caller, {
      event: 'user.created',
      subjectUserRef: ref,
      metadata: { username: body.username, role: role.code },
    });
    const [shown] = await showAdminUsers(tx, caller, ways, sql`u.ref = ${ref}`);
    if (shown === undefined) throw new Error('the created account does not exist');
    return shown;
  });
  return { status: 201, body: user };
});
