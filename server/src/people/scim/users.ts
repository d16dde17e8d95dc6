import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { schemaUrns } from './attributes.ts';
import { scimNotFound } from './fault.ts';
import type { Filterable, Filterables } from './filter.ts';
import { type Cut, everyRow } from './list-query.ts';
import type { UserAttributes, UserDraft } from './user-draft.ts';

/**
 * Accounts `users u` that the directory of this provider sees: those that the provider made, except those that the directory
 * has removed (SCIM-10).
 */
export function provisioned(provider: string): RawBuilder<boolean> {
  return sql`(u.provider = ${provider} and not (u.status = 'archived' and u.status_provider is not distinct from ${provider}))`;
}

export interface UserRow {
  ref: number;
  username: string;
  fullname: string | null;
  email: string | null;
  status: string;
  status_provider: string | null;
  created_at: string;
  updated_at: string;
  external_id: string | null;
  /** What `saveAttributes` stored. */
  attributes: UserAttributes | null;
  groups: { value: string; display: string }[];
}

/** Returns users in the order of their ids. */
export async function readUsers(
  db: Database | Tx,
  provider: string,
  where: RawBuilder<boolean>,
  { limit, offset }: Cut = everyRow,
): Promise<UserRow[]> {
  const { rows } = await sql<UserRow>`
    select u.ref, u.username, u.fullname, u.email, u.status, u.status_provider, u.created_at, u.updated_at,
      s.external_id, s.attributes,
      coalesce((select json_agg(json_build_object('value', g.id, 'display', g.display_name) order by g.display_name_key)
        from scim_members m join scim_groups g on g.id = m.group_id
        where m.user_ref = u.ref and g.provider = ${provider}), '[]') as groups
    from users u left join scim_users s on s.user_ref = u.ref
    where ${provisioned(provider)} and ${where} order by u.ref limit ${limit}::bigint offset ${offset}`.execute(
    db,
  );
  return rows;
}

/** Returns the user with this id; throws the 404 of SCIM. */
export async function findUser(db: Database | Tx, provider: string, id: string): Promise<UserRow> {
  if (!/^\d{1,15}$/.test(id)) throw scimNotFound();
  const [row] = await readUsers(db, provider, sql`u.ref = ${Number(id)}`);
  if (row === undefined) throw scimNotFound();
  return row;
}

/** Returns how many users of the directory meet a condition. */
export async function countUsers(
  db: Database,
  provider: string,
  where: RawBuilder<boolean>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from users u left join scim_users s on s.user_ref = u.ref
    where ${provisioned(provider)} and ${where}`.execute(db);
  return rows[0]?.count ?? 0;
}

const name = (part: string) => sql`s.attributes -> 'name' ->> ${sql.lit(part)}`;
const lower = (text: string) => text.toLowerCase();

/** The attributes of users that filters may name. A search does not decide whether two names are the same (NAME-1). */
export const userFilterables: Filterables = new Map<string, Filterable>([
  ['username', { column: sql`u.username_key`, kind: 'text', keyOf: foldName }],
  ['externalid', { column: sql`s.external_id`, kind: 'text' }],
  ['id', { column: sql`u.ref::text`, kind: 'text' }],
  [
    'displayname',
    { column: sql`lower(coalesce(s.attributes ->> 'displayName', u.fullname))`, kind: 'text', keyOf: lower },
  ],
  ['name.formatted', { column: sql`lower(${name('formatted')})`, kind: 'text', keyOf: lower }],
  ['name.familyname', { column: sql`lower(${name('familyName')})`, kind: 'text', keyOf: lower }],
  ['name.givenname', { column: sql`lower(${name('givenName')})`, kind: 'text', keyOf: lower }],
  ['emails', { column: sql`u.email_key`, kind: 'text', keyOf: keyOfEmail }],
  ['emails.value', { column: sql`u.email_key`, kind: 'text', keyOf: keyOfEmail }],
  // An account has one e-mail, which is of every type.
  ...['emails.type', 'emails.display', 'emails.primary'].map((path): [string, Filterable] => [
    path,
    { column: sql`u.email_key`, kind: 'present' },
  ]),
  ['active', { column: sql`(u.status = 'active')`, kind: 'boolean' }],
  ['meta.created', { column: sql`u.created_at`, kind: 'time' }],
  ['meta.lastmodified', { column: sql`u.updated_at`, kind: 'time' }],
]);

/** Returns what a directory would have to send to leave the user as it is. */
export function draftOf(row: UserRow): UserDraft {
  const attributes = row.attributes ?? attributesOfAccount(row);
  return { ...attributes, userName: row.username, externalId: row.external_id, active: undefined };
}

/** What an account that a sign-in made has in place of a directory's attributes. */
function attributesOfAccount({ fullname, email }: UserRow): UserAttributes {
  return {
    ...(fullname === null ? {} : { displayName: fullname, name: { formatted: fullname } }),
    ...(email === null ? {} : { emails: [{ value: email, primary: true }] }),
  };
}

/** Returns a user as SCIM shows it; `base` is the address of SCIM. */
export function shownUser(row: UserRow, base: string) {
  const { displayName, name, emails } = row.attributes ?? attributesOfAccount(row);
  return {
    schemas: [schemaUrns.user],
    id: String(row.ref),
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    userName: row.username,
    ...(name === undefined ? {} : { name }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(emails === undefined ? {} : { emails }),
    active: row.status === 'active',
    groups: row.groups.map((group) => ({ ...group, $ref: `${base}/Groups/${group.value}`, type: 'direct' })),
    meta: {
      resourceType: 'User',
      created: row.created_at,
      lastModified: row.updated_at,
      location: `${base}/Users/${row.ref}`,
    },
  };
}
