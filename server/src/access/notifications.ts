import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import type { SignedIn } from './caller.ts';
import { readableCollections } from './collections.ts';
import { liveComment } from './comments.ts';
import { disclosedIdentity } from './identities.ts';
import { readablePosts } from './posts.ts';
import { decidableRequests } from './requests.ts';

/**
 * What an account is told of. A notification keeps kind and targets; whether it is there at all is asked of the
 * targets under the recipient's rules each time, so that lists, counts and mail cannot disagree with the pages.
 * Speaks of `notifications n` beside `posts p`, `comments c`, `resource_requests q` and the actor `users au`, each read
 * for its row: joined as tables, the count of an account with many notifications was a hash over every post and comment.
 */
export const notificationTargets: RawBuilder<unknown> = sql`
  left join lateral (select * from posts p where p.id = n.post_id offset 0) p on true
  left join lateral (select * from comments c where c.id = n.comment_id offset 0) c on true
  left join lateral (select * from resource_requests q where q.id = n.request_id offset 0) q on true
  left join lateral (select * from users au where au.ref = n.actor_user_ref offset 0) au on true`;

/** Likes told in a row that still are given: `notified_likes nl`, `post_likes k`. */
export const standingLikes: RawBuilder<unknown> = sql`notified_likes nl join post_likes k
  on k.post_id = nl.post_id and k.user_ref = nl.actor_user_ref where nl.notification_id = n.id`;

/** The caller's own, about what they may read now. */
export function visibleNotifications(caller: SignedIn): RawBuilder<boolean> {
  // `is true`: a target that is gone makes its conditions NULL.
  return sql`(n.user_ref = ${caller.ref} and (case n.kind
    when 'request_received' then q.id is not null and ${decidableRequests(caller)}
    when 'request_decided' then q.requester_user_ref = ${caller.ref}
    when 'follow' then ${disclosedIdentity(caller, 'au')} and exists (select from user_follows f
      where f.follower_user_ref = n.actor_user_ref and f.followed_user_ref = n.user_ref)
    when 'like' then ${readablePosts(caller)} and exists (select from ${standingLikes})
    else ${readablePosts(caller)} and (n.comment_id is null or ${liveComment}) end) is true)`;
}

/** The title of what was asked for, where the caller is shown it; a thing in the trash has none here. */
export function requestTitle(caller: SignedIn): RawBuilder<string | null> {
  return sql`case q.target_kind
    when 'asset' then (select a.title from assets a where a.id = q.target_id and ${shownAssets(caller)})
    when 'post' then (select p.title from posts p where p.id = q.target_id and ${readablePosts(caller)})
    when 'collection' then (select c.name from collections c where c.id = q.target_id and ${readableCollections(caller)})
    end`;
}
