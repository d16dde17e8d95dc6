import { type ListedLink, listAllLinks, listOwnLinks } from '@vitrine/contract/links';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson, readerOfNames } from '../../access/identities.ts';
import { titleOfTarget } from '../../access/links.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { readSealedAddresses } from './address.ts';
import { type LinkRow, linkColumns, shownLink } from './show.ts';
import { countOmittedOf } from './target.ts';

/** Lists of links to different targets (LINK-20). */

interface ListedLinkRow extends LinkRow {
  token_sealed: Buffer | null;
  created_by: NonNullable<ListedLink['created_by']> | null;
  target_title: string | null;
}

/** Returns a page of the links that match, newest first; three statements. */
async function listLinks(
  deps: Deps,
  { caller, http, query }: { caller: SignedIn; http: HttpFacts; query: PageQuery },
  matching: RawBuilder<boolean>,
) {
  const page = newestFirst(query, 'l.created_at', 'l.id');
  const { rows } = await sql<ListedLinkRow>`
    select ${linkColumns}, case when l.created_by_user_ref = ${caller.ref} then l.token_sealed end as token_sealed,
      ${identityJson(readerOfNames(caller), 'cu')} as created_by, ${titleOfTarget(caller)} as target_title
    from share_links l join users cu on cu.ref = l.created_by_user_ref
    where ${matching} and ${page.after} ${page.order}`.execute(deps.db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  const omitted = await countOmittedOf(deps.db, cut.rows);
  const addressOf = await readSealedAddresses(deps, http);
  const items = cut.rows.map(
    ({ token_sealed: sealed, created_by, ...row }): ListedLink => ({
      ...shownLink(row),
      omitted_count: omitted.get(row.target_id) ?? 0,
      ...(sealed === null ? {} : { url: addressOf(sealed) }),
      ...(created_by === null ? {} : { created_by }),
    }),
  );
  return { items, next_cursor: cut.next };
}

/** `GET /account/links`. */
export const own = handle(listOwnLinks, async (deps, { caller, query, http }) => {
  const { target_id: targetId } = query;
  const ofTarget =
    targetId === undefined ? sql`true` : sql`${targetId}::uuid in (l.post_id, l.asset_id, l.collection_id)`;
  const body = await listLinks(
    deps,
    { caller, http, query },
    sql`(l.created_by_user_ref = ${caller.ref} and ${ofTarget})`,
  );
  return { status: 200, body };
});

/** `GET /admin/links`. */
export const all = handle(listAllLinks, async (deps, { caller, query, http }) => ({
  status: 200,
  body: await listLinks(deps, { caller, http, query }, sql`true`),
}));
