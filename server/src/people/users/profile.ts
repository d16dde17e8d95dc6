import { foldName } from '@vitrine/contract/names';
import { getUser, getUserByUsername, type UserProfile } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import { shownBanner } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { avatarUrl, disclosedIdentity, displayName, seesFullNames } from '../../access/identities.ts';
import { pinnedPostIds } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';

/** Returns the profiles of `users u` that meet the condition; `rest` ends the statement (USER-1). */
export async function showProfiles(
  db: Database,
  caller: Caller,
  condition: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<UserProfile[]> {
  const { rows } = await sql<UserProfile & { fullname: string | null }>`
    select u.ref, u.username, ${displayName(caller, 'u')} as display_name, u.fullname, u.bio,
      ${avatarUrl('u')} as avatar_url, ${shownBanner(caller)} as banner_asset_id, u.links,
      ${pinnedPostIds(caller)} as pinned_post_ids, u.created_at,
      (select count(*) from user_follows f where f.followed_user_ref = u.ref) as follower_count,
      (select count(*) from user_follows f where f.follower_user_ref = u.ref) as following_count
    from users u where ${condition} ${rest}`.execute(db);
  return rows.map(({ fullname, ...profile }) => (seesFullNames(caller) ? { ...profile, fullname } : profile));
}

/** Returns a profile the caller may see, or throws 404: anonymous callers do not see hidden accounts (USER-2). */
export async function showProfile(
  db: Database,
  caller: Caller,
  condition: RawBuilder<boolean>,
): Promise<UserProfile> {
  const [profile] = await showProfiles(db, caller, sql`${condition} and ${disclosedIdentity(caller, 'u')}`);
  if (profile === undefined) throw notFound();
  return profile;
}

export const get = handle(getUser, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await showProfile(db, caller, sql`u.ref = ${params.ref}`),
}));

export const getByUsername = handle(getUserByUsername, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await showProfile(db, caller, sql`u.username_key = ${foldName(params.username)}`),
}));
