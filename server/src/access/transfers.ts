import { type RawBuilder, sql } from 'kysely';

/**
 * What a transfer of everything of one account to another may move without showing it to more people (TRANSFER-2). A
 * published post passes on assets of its own author (ASSET-3), so moving one of the two can open assets to others.
 */

/** How far an exposure reaches, the widest first. */
const reach = (exposure: RawBuilder<unknown>) =>
  sql`array_position(array['public', 'org-only', 'narrow', 'none'], ${exposure})`;

/**
 * A published post `p` that contains the asset `a` without passing it on, and would show it to more people if both belonged to
 * one account. Two narrow audiences cannot be compared.
 */
const wouldOpen: RawBuilder<boolean> = sql`(a.sensitivity = 'posts' and a.deleted_at is null
  and p.deleted_at is null and not p.draft and (p.team_id = a.team_id) is not true
  and not (a.exposure in ('public', 'org-only')
    and ${reach(sql`a.exposure`)} <= ${reach(sql`exposure_of(p.visibility)`)}))`;

/** Assets `a` that posts of this account would open if they belonged to it. */
export function openedByPostsOf(userRef: number): RawBuilder<boolean> {
  return sql`(exists (select from post_members m join posts p on p.id = m.post_id
      where m.asset_id = a.id and p.author_user_ref = ${userRef} and ${wouldOpen})
    or exists (select from posts p
      where p.cover_thumbnail_asset_id = a.id and p.author_user_ref = ${userRef} and ${wouldOpen}))`;
}

/** Posts `p` that would open assets of this account if they belonged to it. */
export function openingAssetsOf(userRef: number): RawBuilder<boolean> {
  return sql`(exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = p.id and a.owner_user_ref = ${userRef} and ${wouldOpen})
    or exists (select from assets a
      where a.id = p.cover_thumbnail_asset_id and a.owner_user_ref = ${userRef} and ${wouldOpen}))`;
}
