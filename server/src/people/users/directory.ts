import { foldName } from '@vitrine/contract/names';
import { listPeople } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import { displayName, listedPeople, seesFullNames } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import { containsPattern } from '../../platform/database/like.ts';
import { cursorCodec, cursorText } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { showProfiles } from './profile.ts';

/** People by their names, and by number among those with the same name. */
const personCursor = cursorCodec(
  'person',
  Type.Object({ name: cursorText(500), ref: Type.Integer({ minimum: 0 }) }),
);

/** The name as ordered; each kind of caller has an index of it. */
function nameInOrder(caller: Caller): RawBuilder<unknown> {
  return sql`(${displayName(caller, 'u')}) collate natural_order`;
}

/** The search covers only names that the caller sees, so that hits reveal nothing else. */
function matches(caller: Caller, q: string): RawBuilder<boolean> {
  const pattern = containsPattern(q);
  const full = seesFullNames(caller) ? sql` or u.fullname ilike ${pattern}` : sql``;
  return sql`(u.username_key like ${containsPattern(foldName(q))} or u.display_name ilike ${pattern}${full})`;
}

/** `GET /users` (USER-23). */
export const list = handle(listPeople, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const last = personCursor.read(query.cursor);
  const q = query.q?.trim() ?? '';
  const name = nameInOrder(caller);
  const conditions = [
    listedPeople(caller, 'u'),
    ...(q === '' ? [] : [matches(caller, q)]),
    ...(last === null
      ? []
      : [sql<boolean>`(${name}, u.ref) > (${last.name}::text collate natural_order, ${last.ref}::bigint)`]),
  ];
  const order = sql`order by ${name}, u.ref limit ${limit + 1}`;
  const rows = await showProfiles(db, caller, sql`${sql.join(conditions, sql` and `)}`, order);
  const body = cutPage(rows, limit, ({ display_name, ref }) =>
    personCursor.after({ name: display_name, ref }),
  );
  return { status: 200, body };
});
