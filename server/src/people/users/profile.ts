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

/** Returns a profile the caller may see, or throws 404: anonymous callers do not see hidden accounts (USER-2). */
export async function showProfile(
  db: Database,
  caller: Caller,
  condition: RawBuilder<boolean>,
): Promise<UserProfile> {
  const { rows } = await sql<UserProfile & { fullname: string | null }>`
    select u.ref, u.username, ${displayName(caller, 'u')} as display_name, u.fullname, u.bio,
      ${avatarUrl('u')} as avatar_url, ${shownBanner(caller)} as banner_asset_id, u.links,
      ${pinnedPostIds(caller)} as pinned_post_ids, u.created_at,
      (select count(*) from user_follows f where f.followed_user_ref = u.ref) as follower_count,
      (select count(*) from user_follows f where f.follower_user_ref = u.ref) as following_count
    from users u where ${condition} and ${disclosedIdentity(caller, 'u')}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  const { fullname, ...profile } = row;
  return seesFullNames(caller) ? { ...profile, fullname } : profile;
}

export const get = handle(getUser, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await showProfile(db, caller, sql`u.ref = ${params.ref}`),
}));

export const getByUsername = handle(getUserByUsername, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await showProfile(db, caller, sql`u.username_key = ${foldName(params.username)}`),
}));
