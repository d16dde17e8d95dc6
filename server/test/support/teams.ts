import type { Account, Library } from './library.ts';

/** Creates a team with these members and its slug as name. Returns the id. */
export async function addTeam(
  { deps: { db } }: Library,
  slug: string,
  members: readonly Pick<Account, 'ref'>[] = [],
): Promise<string> {
  const { id } = await db
    .insertInto('teams')
    .values({ slug, name: slug })
    .returning('id')
    .executeTakeFirstOrThrow();
  const rows = members.map(({ ref }) => ({ team_id: id, user_ref: ref }));
  if (rows.length > 0) await db.insertInto('team_members').values(rows).execute();
  return id;
}
