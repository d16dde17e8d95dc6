import { capabilities } from '@vitrine/contract/capabilities';
import type { Language } from '@vitrine/contract/languages';
import { listCapabilities, listRoles, type Role, setUserRole } from '@vitrine/contract/roles';
import { type RawBuilder, sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { pageByCode } from '../../platform/http/page.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { saySentence } from '../../platform/language/sentence.ts';
import { recordEvents } from '../audit/record.ts';
import { capabilityWords } from './labels.ts';
import { keepingAnAdministrator } from './last-administrator.ts';

/** Returns a role that meets a condition, or null. */
export async function findRole(
  db: Database,
  condition: RawBuilder<boolean>,
): Promise<{ id: string; code: string } | null> {
  const row = await db.selectFrom('roles').select(['id', 'code']).where(condition).executeTakeFirst();
  return row ?? null;
}

/** Lists every role with the capabilities of it and its parents; there are few. */
export async function allRoles(db: Database): Promise<Role[]> {
  const { rows } = await sql<Role>`
    with recursive chain (role_id, giver_id) as (
      select id, id from roles
      union
      select c.role_id, r.parent_id from chain c join roles r on r.id = c.giver_id where r.parent_id is not null
    )
    select r.id, r.code, r.label, r.description, r.parent_id, coalesce((
      select json_agg(rc.capability order by rc.capability) from role_capabilities rc where rc.role_id = r.id), '[]')
      as own_capabilities, coalesce((
      select json_agg(distinct rc.capability) from chain c join role_capabilities rc on rc.role_id = c.giver_id
      where c.role_id = r.id), '[]') as capabilities, r.requires_second_factor, r.seeded,
      (select count(*) from users u where u.role_id = r.id)::int as user_count
    from roles r order by r.code`.execute(db);
  return rows;
}

/** The capabilities of a role, including those of its parents. */
export async function capabilitiesOfRole(db: Database, roleId: string): Promise<string[]> {
  return (await allRoles(db)).find((role) => role.id === roleId)?.capabilities ?? [];
}

export const roles = handle(listRoles, async ({ db }, { query }) => ({
  status: 200,
  body: pageByCode(await allRoles(db), query),
}));

/** Returns the capabilities as pages explain them in a language. */
function explainedIn(language: Language) {
  return capabilities.map((code) => {
    const { label, group, description } = capabilityWords[code];
    return {
      code,
      label: saySentence(language, label),
      group: saySentence(language, group),
      description: saySentence(language, description),
    };
  });
}

// LANGUAGE-8
export const everyCapability = handle(listCapabilities, async (_, { caller, query, http }) => ({
  status: 200,
  body: pageByCode(explainedIn(readerLanguage(caller, http)), query),
}));

/** Gives accounts a role. Providers do not change it afterwards (SSO-30), except `provider`. */
export async function writeRole(
  tx: Tx,
  caller: SignedIn,
  refs: readonly number[],
  { id, code, provider = null }: { id: string; code: string; provider?: string | null },
): Promise<void> {
  await sql`update users set role_id = ${id}, role_provider = ${provider}, updated_at = now()
    where ref = any(${[...refs]}::bigint[])`.execute(tx);
  const metadata = { role: code };
  const events = refs.map((ref) => ({ event: 'user.role.changed', subjectUserRef: ref, metadata }));
  await recordEvents(tx, caller, events);
}

export const setRole = handle(setUserRole, async ({ db }, { caller: asked, params, body }) => {
  await keepingAnAdministrator(db, asked, async (tx, caller) => {
    const { ref } = await administered(tx, caller, params.ref);
    const role = await findRole(tx, sql`id = ${body.role_id}`);
    if (role === null) throw refuse('role-not-found');
    checkMayGive(caller, await capabilitiesOfRole(tx, role.id));
    await writeRole(tx, caller, [ref], role);
  });
  return { status: 204 };
});
