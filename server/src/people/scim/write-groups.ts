import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { recordEvent } from '../audit/record.ts';
import { applyMapping } from '../single-sign-on/mapping.ts';
import { attributesOf, listOf, textOf } from './attributes.ts';
import { type Directory, provisioning } from './directory.ts';
import { invalidValue, notUnique, ScimFault } from './fault.ts';
import { findGroup, type GroupRow } from './groups.ts';
import { operationsOf, type PatchOperation, patchValues } from './patch.ts';
import { provisioned } from './users.ts';

/** SCIM-23. */
const MOST_MEMBERS = 10_000;

/** A group as a directory wants it. */
interface GroupDraft {
  displayName: string;
  externalId: string | null;
  /** Ids of users. */
  members: readonly string[];
}

function memberOf(given: unknown): string {
  const value = typeof given === 'string' ? given : attributesOf(given, 'a member').get('value');
  const id = typeof value === 'number' ? String(value) : textOf(value, 'members.value', 100);
  if (id === null) throw invalidValue('a member needs a value');
  return id;
}

function draftFrom(group: ReadonlyMap<string, unknown>): GroupDraft {
  const displayName = textOf(group.get('displayname'), 'displayName', 500);
  if (displayName === null) throw invalidValue('displayName is missing');
  const members = listOf(group.get('members')).map(memberOf);
  return { displayName, externalId: textOf(group.get('externalid'), 'externalId', 250), members };
}

const readOnly = new Set(['id', 'meta', 'schemas']);

function withOperation(
  group: ReadonlyMap<string, unknown>,
  operation: PatchOperation,
): ReadonlyMap<string, unknown> {
  const { op, path, value } = operation;
  if (path === null) return group;
  const { attribute } = path;
  if (readOnly.has(attribute)) throw new ScimFault(400, 'mutability', `${attribute} cannot be changed`);
  if (attribute !== 'members') return new Map([...group, [attribute, op === 'remove' ? null : value]]);
  const values = listOf(group.get('members')).map((member) => ({ value: memberOf(member) }));
  return new Map([...group, ['members', patchValues(values, operation)]]);
}

function patchGroup({ display_name, external_id, members }: GroupRow, operations: readonly PatchOperation[]) {
  const before = new Map<string, unknown>([
    ['displayname', display_name],
    ['externalid', external_id],
    ['members', members],
  ]);
  return draftFrom(operations.reduce(withOperation, before));
}

/** Returns the refs of users; throws `invalidValue` for an id that the directory does not have. */
async function refsOf(tx: Tx, { provider }: Directory, ids: readonly string[]): Promise<number[]> {
  const wanted = [...new Set(ids)];
  const unknown = wanted.find((id) => !/^\d{1,15}$/.test(id));
  const refs = unknown === undefined ? wanted.map(Number) : [];
  const { rows } = await sql<{ ref: number }>`
    select u.ref from users u where ${provisioned(provider.name)} and u.ref = any(${refs}::bigint[])`.execute(
    tx,
  );
  const known = new Set(rows.map(({ ref }) => ref));
  const missing = unknown ?? refs.find((ref) => !known.has(ref));
  if (missing !== undefined)
    throw invalidValue(`members has ${missing}, which is not a user of this directory`);
  return refs;
}

/** Changes the members and returns those who joined or left. */
async function saveMembers(tx: Tx, directory: Directory, group: GroupRow, ids: readonly string[]) {
  const before = new Set(group.members.map(({ value }) => value));
  const wanted = new Set(ids);
  if (wanted.size > MOST_MEMBERS)
    throw new ScimFault(413, 'tooMany', `a group has at most ${MOST_MEMBERS} members`);
  const joined = await refsOf(
    tx,
    directory,
    ids.filter((id) => !before.has(id)),
  );
  const left = [...before].filter((id) => !wanted.has(id)).map(Number);
  await sql`insert into scim_members (group_id, user_ref) select ${group.id}, ref from unnest(${joined}::bigint[]) ref
    on conflict do nothing`.execute(tx);
  await sql`delete from scim_members where group_id = ${group.id} and user_ref = any(${left}::bigint[])`.execute(
    tx,
  );
  return [...joined, ...left];
}

/** Whether a role or a team depends on a group of this name. */
function isMapped({ provider }: Directory, name: string): boolean {
  const { role_mapping, team_mapping } = provider.settings;
  return [...role_mapping, ...team_mapping].some(({ group }) => group === name);
}

async function mapAgain(tx: Tx, { provider }: Directory, refs: Iterable<number>): Promise<void> {
  await applyMapping(tx, provider, [...new Set(refs)], { keepsAdministrator: false });
}

async function checkUnique(
  tx: Tx,
  { provider }: Directory,
  draft: GroupDraft,
  id: string | null,
): Promise<void> {
  const { rows } = await sql<{ same_name: boolean }>`
    select display_name_key = ${foldName(draft.displayName)} as same_name from scim_groups
    where provider = ${provider.name} and id is distinct from ${id}::uuid
      and (display_name_key = ${foldName(draft.displayName)} or external_id = ${draft.externalId}) limit 1`.execute(
    tx,
  );
  const [other] = rows;
  if (other !== undefined) throw notUnique(other.same_name ? 'displayName' : 'externalId');
}

function record(tx: Tx, { provider }: Directory, what: 'created' | 'changed' | 'removed', group: string) {
  const metadata = { provider: provider.name, group };
  return recordEvent(tx, null, { event: `scim.group.${what}`, metadata });
}

/** Stores a group, and applies the mapping to those whose groups changed (SCIM-21). */
async function saveGroup(tx: Tx, directory: Directory, before: GroupRow, draft: GroupDraft): Promise<void> {
  await checkUnique(tx, directory, draft, before.id);
  const { displayName, externalId, members } = draft;
  await tx
    .updateTable('scim_groups')
    .set({
      display_name: displayName,
      display_name_key: foldName(displayName),
      external_id: externalId,
      updated_at: sql`now()`,
    })
    .where('id', '=', before.id)
    .execute();
  const moved = await saveMembers(tx, directory, before, members);
  const isRenamed = displayName !== before.display_name;
  const concerned = isRenamed ? [...moved, ...before.members.map(({ value }) => Number(value))] : moved;
  if (isMapped(directory, displayName) || isMapped(directory, before.display_name))
    await mapAgain(tx, directory, concerned);
}

export async function createGroup(db: Database, directory: Directory, body: unknown): Promise<GroupRow> {
  const draft = draftFrom(attributesOf(body, 'the body'));
  const { name: provider } = directory.provider;
  return provisioning(db, async (tx) => {
    await checkUnique(tx, directory, draft, null);
    const { id } = await tx
      .insertInto('scim_groups')
      .values({
        provider,
        display_name: draft.displayName,
        display_name_key: foldName(draft.displayName),
        external_id: draft.externalId,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await saveGroup(tx, directory, await findGroup(tx, provider, id), draft);
    await record(tx, directory, 'created', draft.displayName);
    return findGroup(tx, provider, id);
  });
}

async function changeGroup(
  db: Database,
  directory: Directory,
  id: string,
  change: (before: GroupRow) => GroupDraft,
): Promise<GroupRow> {
  const { name: provider } = directory.provider;
  return provisioning(db, async (tx) => {
    const before = await findGroup(tx, provider, id);
    const draft = change(before);
    await saveGroup(tx, directory, before, draft);
    await record(tx, directory, 'changed', draft.displayName);
    return findGroup(tx, provider, id);
  });
}

export async function replaceGroup(
  db: Database,
  directory: Directory,
  id: string,
  body: unknown,
): Promise<GroupRow> {
  const draft = draftFrom(attributesOf(body, 'the body'));
  return changeGroup(db, directory, id, () => draft);
}

export async function modifyGroup(
  db: Database,
  directory: Directory,
  id: string,
  body: unknown,
): Promise<GroupRow> {
  const operations = operationsOf(body);
  return changeGroup(db, directory, id, (before) => patchGroup(before, operations));
}

export async function removeGroup(db: Database, directory: Directory, id: string): Promise<void> {
  const { name: provider } = directory.provider;
  await provisioning(db, async (tx) => {
    const { display_name, members } = await findGroup(tx, provider, id);
    await tx.deleteFrom('scim_groups').where('id', '=', id).execute();
    if (isMapped(directory, display_name))
      await mapAgain(
        tx,
        directory,
        members.map(({ value }) => Number(value)),
      );
    await record(tx, directory, 'removed', display_name);
  });
}
