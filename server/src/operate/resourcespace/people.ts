import { randomUUID } from 'node:crypto';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { isHash } from '../../people/identity/hash-forms.ts';
import { keepImportedKey } from '../../people/identity/imported-keys.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { readLegacyUser } from '../import/users/legacy-user.ts';
import { storeBatch } from '../import/users/store.ts';
import { changedAccounts, recordOfAccounts } from '../imports/given-access.ts';
import { accountOf, type Context, CREATING } from './context.ts';
import type { GroupPlan } from './group-plan.ts';
import type { User } from './installation.ts';
import { uncarriedOfGroup, uncarriedOfUser } from './uncarried.ts';

/** Creates the role of a group, or gives it the capabilities that it has now. Returns its id. */
async function keepRole(
  tx: Tx,
  { ledger }: Context,
  { group, code, capabilities }: GroupPlan,
): Promise<string> {
  const known = ledger.find('group', group.ref)?.target;
  const found =
    known === undefined
      ? undefined
      : await tx.selectFrom('roles').select('id').where('id', '=', known).executeTakeFirst();
  const id = found?.id ?? randomUUID();
  if (found === undefined) {
    await tx
      .insertInto('roles')
      .values({ id, code, label: group.label.slice(0, 200) })
      .execute();
    await ledger.record(tx, 'group', group.ref, id);
  }
  // Adds only: what an administrator has given or taken since stays.
  if (capabilities.length > 0 && ledger.find('group', group.ref)?.fingerprint !== capabilities.join(' ')) {
    await tx
      .insertInto('role_capabilities')
      .values(capabilities.map((capability) => ({ role_id: id, capability })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await ledger.record(tx, 'group', group.ref, id, capabilities.join(' '));
  }
  return id;
}

/** Creates a team, or finds it. Returns its id. */
export async function keepTeam(
  tx: Tx,
  { ledger }: Context,
  kind: 'team' | 'audience',
  key: string,
  { name, slug }: { name: string; slug: string },
): Promise<string> {
  const known = ledger.find(kind, key)?.target;
  if (known !== undefined) return known;
  const row = await tx
    .insertInto('teams')
    .values({ slug, name: name.slice(0, 200), description: 'Imported from ResourceSpace' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ledger.record(tx, kind, key, row.id);
  return row.id;
}

/**
 * Makes these users the members of the team of a group or an audience. Only those who are new there join, so that a member
 * who was removed here does not come back (IMPORT-2).
 */
export async function keepMembers(
  { deps, ledger }: Context,
  { id: teamId, kind, key }: { id: string; kind: 'team' | 'audience'; key: number | string },
  users: readonly number[],
) {
  const members = users.flatMap((user) => accountOf({ ledger }, user) ?? []);
  const oldId = `${kind} ${key}`;
  const { lost, fresh } = changedAccounts(ledger, 'members', oldId, members);
  if (lost.length === 0 && fresh.length === 0) return;
  await deps.db.transaction().execute(async (tx) => {
    await sql`delete from team_members where team_id = ${teamId} and user_ref = any(${lost}::bigint[])`.execute(
      tx,
    );
    await sql`insert into team_members (team_id, user_ref)
      select ${teamId}, ref from users where ref = any(${fresh}::bigint[]) on conflict do nothing`.execute(
      tx,
    );
    await ledger.record(tx, 'members', oldId, recordOfAccounts(members));
  });
}

const columnsOf = (user: User, password: string) =>
  new Map([
    ['username', user.username],
    ['password', password],
    ['fullname', user.fullname],
    ['email', user.email === '' ? null : user.email],
    ['created', user.created],
    ['lang', user.lang],
    ['approved', user.approved === null ? null : String(user.approved)],
    ['account_expires', user.expires],
    ['usergroup', String(user.group ?? '')],
  ]);

/** Very old installations store passwords as they are; they are hashed here. */
async function passwordOf({ deps, reporter }: Context, user: User): Promise<string> {
  const stored = user.password ?? '';
  if (stored === '' || isHash(stored) || stored.startsWith('$')) return stored;
  reporter.change('user', user.ref, sentence('the password was stored as plain text; it is now hashed'));
  return deps.passwords.hash(user.username, stored);
}

/** Whether an account that exists already may be taken for a user of the earlier system: only if it loses nothing by it. */
async function existingAccount({ deps, plan, owner }: Context, user: User): Promise<number | null> {
  const named = plan.mapping.users?.[String(user.ref)]?.account;
  const row = await deps.db
    .selectFrom('users')
    .innerJoin('roles', 'roles.id', 'users.role_id')
    .select(['users.ref', 'roles.code'])
    .where('username_key', '=', foldName(named ?? user.username))
    .executeTakeFirst();
  if (row === undefined) return null;
  return named !== undefined || row.ref === owner.ref ? row.ref : null;
}

async function importUser(
  context: Context,
  user: User,
  roleIds: ReadonlyMap<number, string>,
  viewer: string,
) {
  const { deps, reporter, ledger, plan } = context;
  if (accountOf(context, user.ref) !== null) return reporter.count('users_already_here');
  if (plan.mapping.users?.[String(user.ref)]?.import === false)
    return reporter.leaveOut('user', user.ref, sentence('the mapping leaves this account out'));
  const existing = await existingAccount(context, user);
  if (existing !== null) {
    await ledger.record(deps.db, 'user', user.ref, existing);
    reporter.change(
      'user',
      user.ref,
      sentence('is an account that existed here before; its role and password stay'),
    );
    return;
  }
  const reading = readLegacyUser(columnsOf(user, await passwordOf(context, user)), new Date());
  if ('refused' in reading) return reporter.leaveOut('user', user.ref, reading.refused);
  const { username } = reading.user;
  // An earlier run may have been killed after it created the account.
  if (
    (await findAccount(context, username)) !== undefined &&
    ledger.find('user', user.ref)?.target !== CREATING
  ) {
    const reason = sentence(
      'an account of this name exists, and names are compared without case; map it to that account, or rename one of them',
    );
    return reporter.leaveOut('user', user.ref, reason);
  }
  await ledger.record(deps.db, 'user', user.ref, CREATING);
  const candidate = {
    place: `user ${user.ref}`,
    user: reading.user,
    roleId: roleIds.get(user.group ?? 0) ?? viewer,
  };
  await storeBatch(deps.db, [candidate], { seen: new Map(), source: 'mysql', dryRun: false });
  const account = await findAccount(context, username);
  if (account === undefined) throw new Error(`the account ${username} was not created`);
  if (user.profile !== null) {
    const bio = user.profile.slice(0, LONGEST_BIO).toWellFormed();
    await deps.db.updateTable('users').set({ bio }).where('ref', '=', account.ref).execute();
  }
  await ledger.record(deps.db, 'user', user.ref, account.ref);
  reporter.count('users');
  for (const remark of reading.remarks) reporter.change('user', user.ref, remark);
  for (const remark of uncarriedOfUser(user, context.installation))
    reporter.leaveOut('user', user.ref, remark);
}

const LONGEST_BIO = 2000;

function findAccount({ deps }: Context, username: string): Promise<{ ref: number } | undefined> {
  return deps.db
    .selectFrom('users')
    .select('ref')
    .where('username_key', '=', foldName(username))
    .executeTakeFirst();
}

/** Imports accounts with their roles, and makes a team of each group. */
export async function importPeople(context: Context): Promise<void> {
  const { deps, plan, reporter, installation } = context;
  const { db } = deps;
  const key = installation.settings.scramble_key ?? '';
  const roles = await db.selectFrom('roles').select(['id', 'code']).execute();
  const roleIds = new Map<number, string>();
  await db.transaction().execute(async (tx) => {
    if (key !== '') await keepImportedKey(tx, key);
    for (const group of plan.groups) {
      const named = roles.find(({ code }) => code === group.role);
      roleIds.set(group.group.ref, named?.id ?? (await keepRole(tx, context, group)));
      await keepTeam(tx, context, 'team', String(group.group.ref), { name: group.team, slug: group.code });
    }
  });
  const viewer = roles.find(({ code }) => code === 'viewer')?.id ?? '';
  for (const user of installation.users) {
    if (context.isStopped()) return;
    await importUser(context, user, roleIds, viewer);
  }
  for (const { group } of plan.groups) {
    const teamId = context.ledger.find('team', group.ref)?.target ?? '';
    const users = installation.users.filter((user) => user.group === group.ref).map(({ ref }) => ref);
    await keepMembers(context, { id: teamId, kind: 'team', key: group.ref }, users);
    reporter.count('groups');
    for (const remark of uncarriedOfGroup(group)) reporter.leaveOut('group', group.ref, remark);
    if (group.filter.kind === 'text')
      reporter.change(
        'group',
        group.ref,
        sentence('its search filter in the old text form was not in effect any more'),
      );
    if (group.filter.kind === 'unknown')
      reporter.change(
        'group',
        group.ref,
        sentence('its search filter cannot be evaluated, so it sees no resources'),
      );
  }
}
