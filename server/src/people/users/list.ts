import { foldName } from '@vitrine/contract/names';
import type { UserSelection } from '@vitrine/contract/user-batches';
import { getAdminUser, listUsers } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import { seesPersonalData } from '../../access/identities.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { containsPattern } from '../../platform/database/like.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import type { RegistryDeps } from '../identity/provider-registry.ts';
import { waysToSignIn } from '../identity/ways-to-sign-in.ts';
import { showAdminUsers } from './show-admin.ts';
import { signInState } from './sign-in-state.ts';

/** The search covers only what the caller may read, so that hits reveal nothing else. */
function matches(q: string, personal: boolean): RawBuilder<boolean> {
  const pattern = containsPattern(q);
  // Keys are compared as they are (NAME-1, NAME-7).
  const key = containsPattern(foldName(q));
  const anybodys = sql`u.username_key like ${key} or u.display_name ilike ${pattern}`;
  return personal
    ? sql`(${anybodys} or u.fullname ilike ${pattern} or u.email_key like ${key})`
    : sql`(${anybodys})`;
}

/** The filters of the list, as conditions about `users u`, `roles r` and the state of sign-in. */
function filters(query: UserSelection, personal: boolean): RawBuilder<boolean>[] {
  const { status, role, team_id, provider, can_sign_in, obstacle } = query;
  const q = query.q?.trim() ?? '';
  return [
    ...(status === undefined ? [] : [sql<boolean>`u.status = ${status}`]),
    ...(role === undefined ? [] : [sql<boolean>`r.code = ${role}`]),
    ...(provider === undefined ? [] : [sql<boolean>`u.provider = ${provider}`]),
    ...(team_id === undefined
      ? []
      : [sql<boolean>`u.ref in (select user_ref from team_members where team_id = ${team_id})`]),
    ...(can_sign_in === undefined ? [] : [sql<boolean>`(state.obstacle is null) = ${can_sign_in}`]),
    ...(obstacle === undefined ? [] : [sql<boolean>`state.obstacle = ${obstacle}`]),
    ...(q === '' ? [] : [matches(q, personal)]),
  ];
}

/** Returns `from` and `where` of the accounts `u` that match (USER-20). */
export async function accountsMatching(
  deps: RegistryDeps & Pick<Deps, 'providers'>,
  query: UserSelection,
  personal: boolean,
): Promise<RawBuilder<unknown>> {
  const ways = await waysToSignIn(deps);
  const conditions = [sql<boolean>`true`, ...filters(query, personal)];
  return sql`from users u join roles r on r.id = u.role_id ${signInState(ways)}
    where ${sql.join(conditions, sql` and `)}`;
}

/** Lists accounts, newest first. */
export const list = handle(listUsers, async (deps, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const before = refCursor.read(query.cursor)?.ref ?? null;
  const conditions = [
    before === null ? sql<boolean>`true` : sql<boolean>`u.ref < ${before}`,
    ...filters(query, seesPersonalData(caller)),
  ];
  const rest = sql`order by u.ref desc limit ${limit + 1}`;
  const ways = await waysToSignIn(deps);
  const rows = await showAdminUsers(deps.db, caller, ways, sql`${sql.join(conditions, sql` and `)}`, rest);
  return { status: 200, body: cutPage(rows, limit, (last) => refCursor.after(last)) };
});

/** Returns one account in the list's form. */
export const getForAdmin = handle(getAdminUser, async (deps, { caller, params }) => {
  const ways = await waysToSignIn(deps);
  const [user] = await showAdminUsers(deps.db, caller, ways, sql`u.ref = ${params.ref}`);
  if (user === undefined) throw notFound();
  return { status: 200, body: user };
});
