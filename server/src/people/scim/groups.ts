import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { schemaUrns } from './attributes.ts';
import { scimNotFound } from './fault.ts';
import type { Filterables } from './filter.ts';
import { type Cut, everyRow } from './list-query.ts';

export interface GroupRow {
  id: string;
  display_name: string;
  external_id: string | null;
  created_at: string;
  updated_at: string;
  members: { value: string; display: string }[];
}

/** Returns groups of a directory `g` in the order of their names; `withMembers`: whether their members are read, too. */
export async function readGroups(
  db: Database | Tx,
  provider: string,
  where: RawBuilder<boolean>,
  { withMembers, cut: { limit, offset } = everyRow }: { withMembers: boolean; cut?: Cut },
): Promise<GroupRow[]> {
  const { rows } = await sql<GroupRow>`
    select g.id, g.display_name, g.external_id, g.created_at, g.updated_at,
      coalesce((select json_agg(json_build_object('value', u.ref::text, 'display', u.username) order by u.ref)
        from scim_members m join users u on u.ref = m.user_ref
        where ${withMembers} and m.group_id = g.id), '[]') as members
    from scim_groups g where g.provider = ${provider} and ${where} order by g.display_name_key, g.id
    limit ${limit}::bigint offset ${offset}`.execute(db);
  return rows;
}

/** Returns the group with this id; throws the 404 of SCIM. */
export async function findGroup(db: Database | Tx, provider: string, id: string): Promise<GroupRow> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw scimNotFound();
  const [row] = await readGroups(db, provider, sql`g.id = ${id}`, { withMembers: true });
  if (row === undefined) throw scimNotFound();
  return row;
}

/** Returns how many groups of the directory meet a condition. */
export async function countGroups(
  db: Database,
  provider: string,
  where: RawBuilder<boolean>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from scim_groups g where g.provider = ${provider} and ${where}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** The attributes of groups that filters may name. */
export const groupFilterables: Filterables = new Map([
  ['displayname', { column: sql`g.display_name_key`, kind: 'text', keyOf: foldName }],
  ['externalid', { column: sql`g.external_id`, kind: 'text' }],
  ['id', { column: sql`g.id::text`, kind: 'text' }],
  ['meta.created', { column: sql`g.created_at`, kind: 'time' }],
  ['meta.lastmodified', { column: sql`g.updated_at`, kind: 'time' }],
]);

/** Returns a group as SCIM shows it; `base` is the address of SCIM. */
export function shownGroup(row: GroupRow, base: string) {
  return {
    schemas: [schemaUrns.group],
    id: row.id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: row.display_name,
    members: row.members.map((member) => ({
      ...member,
      $ref: `${base}/Users/${member.value}`,
      type: 'User',
    })),
    meta: {
      resourceType: 'Group',
      created: row.created_at,
      lastModified: row.updated_at,
      location: `${base}/Groups/${row.id}`,
    },
  };
}
