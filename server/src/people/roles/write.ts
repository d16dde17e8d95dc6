import { createRole, deleteRole, type Role, updateRole } from '@vitrine/contract/roles';
import { sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { recordEvent } from '../audit/record.ts';
import { keepingAnAdministrator } from './last-administrator.ts';
import { allRoles } from './roles.ts';

/** The role of administrators, which stays as it is, so that every capability has a holder (ROLE-22). */
const ADMINISTRATORS = 'admin';
/** The role of new accounts, of directories too. */
const NEWCOMERS = 'member';

function named(roles: readonly Role[], code: string): Role {
  const role = roles.find((role) => role.code === code);
  if (role === undefined) throw refuse('role-not-found');
  return role;
}

function withId(roles: readonly Role[], id: string): Role {
  const role = roles.find((role) => role.id === id);
  if (role === undefined) throw notFound();
  return role;
}

/** Returns the roles above a role, the nearest first. */
function above(roles: readonly Role[], { parent_id }: Pick<Role, 'parent_id'>): Role[] {
  const parent = roles.find(({ id }) => id === parent_id);
  return parent === undefined ? [] : [parent, ...above(roles, parent)];
}

/** Returns what a role, its parents and the roles below it confer. */
function concerned(roles: readonly Role[], role: Role): string[] {
  const below = roles.filter((other) => above(roles, other).some(({ id }) => id === role.id));
  return [role, ...below].flatMap(({ capabilities }) => capabilities);
}

async function writeCapabilities(tx: Tx, roleId: string, codes: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('role_capabilities')
    .where('role_id', '=', roleId)
    .where('capability', '<>', sql<string>`all(${[...codes]}::text[])`)
    .execute();
  await sql`insert into role_capabilities (role_id, capability)
    select ${roleId}, unnest(${[...codes]}::text[]) on conflict do nothing`.execute(tx);
}

export const create = handle(createRole, async ({ db }, { caller: asked, body }) => {
  const { code, name, capabilities } = body;
  const role = await keepingAnAdministrator(
    db,
    asked,
    async (tx, caller) => {
      const parent = body.parent == null ? null : named(await allRoles(tx), body.parent);
      checkMayGive(caller, [...capabilities, ...(parent?.capabilities ?? [])]);
      const row = await tx
        .insertInto('roles')
        .values({
          code,
          label: name.trim(),
          description: body.description ?? '',
          parent_id: parent?.id ?? null,
          requires_second_factor: body.requires_second_factor ?? false,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst();
      if (row === undefined) throw refuse('role-code-taken');
      await writeCapabilities(tx, row.id, capabilities);
      await recordEvent(tx, caller, {
        event: 'role.created',
        target: { kind: 'role', id: row.id },
        metadata: { role: code, capabilities: [...new Set(capabilities)].sort() },
      });
      return withId(await allRoles(tx), row.id);
    },
    'roles.write',
  );
  return { status: 201, body: role };
});

/** Throws 400 when the new parent is the role itself or below it (ROLE-22). */
function checkAcyclic(roles: readonly Role[], role: Role, parent: Role): void {
  if ([parent, ...above(roles, parent)].some(({ id }) => id === role.id)) throw refuse('roles-in-cycle');
}

const properties = ['name', 'description', 'parent', 'capabilities', 'requires_second_factor'] as const;

/** Returns all roles, and the one that the caller may change or delete; throws 404, 409 or 403 (ROLE-21, ROLE-22). */
async function roleToChange(tx: Tx, caller: SignedIn, id: string) {
  const roles = await allRoles(tx);
  const role = withId(roles, id);
  if (role.code === ADMINISTRATORS) throw refuse('role-protected');
  checkMayGive(caller, concerned(roles, role));
  return { roles, role };
}

export const update = handle(updateRole, async ({ db }, { caller: asked, params, body }) => {
  const changes = patchOf(body, properties);
  const { name, description, parent: parentCode, capabilities, requires_second_factor } = changes;
  const changed = await keepingAnAdministrator(
    db,
    asked,
    async (tx, caller) => {
      const { roles, role } = await roleToChange(tx, caller, params.id);
      const parent = typeof parentCode === 'string' ? named(roles, parentCode) : null;
      if (parent !== null) checkAcyclic(roles, role, parent);
      checkMayGive(caller, [...(capabilities ?? []), ...(parent?.capabilities ?? [])]);
      if (Object.keys(changes).length === 0) return role;
      await tx
        .updateTable('roles')
        .set({
          ...(name === undefined ? {} : { label: name.trim() }),
          ...(description === undefined ? {} : { description }),
          ...(parentCode === undefined ? {} : { parent_id: parent?.id ?? null }),
          requires_second_factor: requires_second_factor ?? role.requires_second_factor,
        })
        .where('id', '=', role.id)
        .execute();
      if (capabilities !== undefined) await writeCapabilities(tx, role.id, capabilities);
      await recordChange(tx, caller, role, Object.keys(changes), capabilities);
      return withId(await allRoles(tx), role.id);
    },
    'roles.write',
  );
  return { status: 200, body: changed };
});

async function recordChange(
  tx: Tx,
  caller: SignedIn,
  { id, code, own_capabilities: before }: Role,
  changed: readonly string[],
  after: readonly string[] = before,
): Promise<void> {
  const added = [...new Set(after)].filter((capability) => !before.includes(capability));
  const removed = before.filter((capability) => !after.includes(capability));
  await recordEvent(tx, caller, {
    event: 'role.changed',
    target: { kind: 'role', id },
    metadata: { role: code, changed: changed.toSorted(), added: added.sort(), removed },
  });
}

/** Returns what uses a role, in the words of the error; null if nothing does (ROLE-23). */
async function userOf(
  { config }: Deps,
  tx: Tx,
  role: Role,
  roles: readonly Role[],
): Promise<Sentence | null> {
  if (role.code === NEWCOMERS) return sentence('new accounts');
  // Accounts that are being created with the role are complete once its row is locked.
  await sql`select from roles where id = ${role.id} for update`.execute(tx);
  const account = await tx
    .selectFrom('users')
    .select('ref')
    .where('role_id', '=', role.id)
    .executeTakeFirst();
  if (account !== undefined) return sentence('accounts');
  if (roles.some(({ parent_id }) => parent_id === role.id)) return sentence('other roles');
  const invitation = await tx
    .selectFrom('invitations')
    .select('id')
    .where('role_id', '=', role.id)
    .executeTakeFirst();
  if (invitation !== undefined) return sentence('invitations');
  const registering = await sql`select from settings where key = 'accounts'
    and value ->> 'registration_role' = ${role.code}`.execute(tx);
  if (registering.rows.length > 0) return sentence('registration');
  const { rows } = await sql`select from identity_providers where settings ->> 'default_role' = ${role.code}
    or settings -> 'role_mapping' @> jsonb_build_array(jsonb_build_object('role', ${role.code}::text)) limit 1`.execute(
    tx,
  );
  const isOfEnvironment = [config.oidc?.settings, config.saml].some(
    (settings) =>
      settings?.default_role === role.code ||
      settings?.role_mapping.some((mapping) => mapping.role === role.code),
  );
  return rows.length > 0 || isOfEnvironment ? sentence('identity providers') : null;
}

export const remove = handle(deleteRole, async (deps, { caller: asked, params }) => {
  await keepingAnAdministrator(
    deps.db,
    asked,
    async (tx, caller) => {
      const { roles, role } = await roleToChange(tx, caller, params.id);
      const by = await userOf(deps, tx, role, roles);
      if (by !== null) throw refuse('role-in-use', { by });
      await tx.deleteFrom('roles').where('id', '=', role.id).execute();
      await recordEvent(tx, caller, {
        event: 'role.deleted',
        target: { kind: 'role', id: role.id },
        metadata: { role: role.code },
      });
    },
    'roles.write',
  );
  return { status: 204 };
});
