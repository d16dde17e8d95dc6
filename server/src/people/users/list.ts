import { foldName } from '@vitrine/contract/names';
import { getAdminUser, listUsers } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import { seesPersonalData } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import { containsPattern } from '../../platform/database/like.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { showAdminUsers } from './show-admin.ts';

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

/** Lists accounts, newest first. */
export const list = handle(listUsers, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const before = refCursor.read(query.cursor)?.ref ?? null;
  const q = query.q?.trim() ?? '';
  const conditions = [
    before === null ? sql<boolean>`true` : sql<boolean>`u.ref < ${before}`,
    query.status === undefined ? sql<boolean>`true` : sql<boolean>`u.status = ${query.status}`,
    q === '' ? sql<boolean>`true` : matches(q, seesPersonalData(caller)),
  ];
  const rest = sql`order by u.ref desc limit ${limit + 1}`;
  const rows = await showAdminUsers(db, caller, sql`${sql.join(conditions, sql` and `)}`, rest);
  return { status: 200, body: cutPage(rows, limit, (last) => refCursor.after(last)) };
});

/** Returns one account in the list's form. */
export const getForAdmin = handle(getAdminUser, async ({ db }, { caller, params }) => {
  const [user] = await showAdminUsers(db, caller, sql`u.ref = ${params.ref}`);
  if (user === undefined) throw notFound();
  return { status: 200, body: user };
});
