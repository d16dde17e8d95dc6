import { type RawBuilder, sql } from 'kysely';
import { readableComments } from './annotations.ts';
import { shownAssets } from './assets.ts';
import { holds, type SignedIn } from './caller.ts';
import { readableCollections } from './collections.ts';
import { disclosedIdentity } from './identities.ts';
import { manageableLinks } from './links.ts';
import { readablePosts } from './posts.ts';
import { decidableRequests } from './requests.ts';
import { decidableReviews, readableReviews } from './reviews.ts';
import { ownTeam } from './teams.ts';

/**
 * Which notifications an account sees. Each read checks the targets of a notification against the recipient's current
 * rights, so that lists, counts and mail agree with the pages. Refers to `notifications n` with `posts p`, `comments
 * c`, `resource_requests q`, `assets a`, `reviews r`, `share_links l`, `teams t`, its new member `users mu` and the actor
 * `users au`, each looked up per row, because with plain joins PostgreSQL hashed every post and comment to count the
 * notifications of one account.
 */
export const notificationTargets: RawBuilder<unknown> = sql`
  left join lateral (select * from posts p where p.id = n.post_id offset 0) p on true
  left join lateral (select * from comments c where c.id = n.comment_id offset 0) c on true
  left join lateral (select * from resource_requests q where q.id = n.request_id offset 0) q on true
  left join lateral (select * from assets a where a.id = n.asset_id offset 0) a on true
  left join lateral (select * from reviews r where r.id = n.review_id offset 0) r on true
  left join lateral (select * from share_links l where l.id = n.link_id offset 0) l on true
  left join lateral (select * from teams t where t.id = n.team_id offset 0) t on true
  left join lateral (select * from users mu where mu.ref = n.member_user_ref offset 0) mu on true
  left join lateral (select * from users au where au.ref = n.actor_user_ref offset 0) au on true`;

/** Likes in a notification that still exist: `notified_likes nl`, `post_likes k`. */
export const existingLikes: RawBuilder<unknown> = sql`notified_likes nl join post_likes k
  on k.post_id = nl.post_id and k.user_ref = nl.actor_user_ref where nl.notification_id = n.id`;

/** The caller's own notifications about targets they may read now. */
export function visibleNotifications(caller: SignedIn): RawBuilder<boolean> {
  // `is true`: the conditions on a missing target are NULL.
  return sql`(n.user_ref = ${caller.ref} and (case n.kind
    when 'request_received' then q.id is not null and ${decidableRequests(caller)}
    when 'request_decided' then q.requester_user_ref = ${caller.ref}
    when 'follow' then ${disclosedIdentity(caller, 'au')} and exists (select from user_follows f
      where f.follower_user_ref = n.actor_user_ref and f.followed_user_ref = n.user_ref)
    when 'team_member_added' then ${ownTeam} and ${disclosedIdentity(caller, 'mu')} and exists (
      select from team_members tm where tm.team_id = n.team_id and tm.user_ref = n.user_ref)
    when 'review_requested' then ${decidableReviews(caller)}
    when 'review_reopened' then ${decidableReviews(caller)}
    when 'review_decided' then ${readableReviews(caller)}
    when 'review_due' then ${readableReviews(caller)}
    when 'state_changed' then ${shownAssets(caller)}
    when 'assigned' then c.assignee_user_ref = n.user_ref and ${readableComments(caller)}
    when 'guest_feedback' then ${manageableLinks(caller)}
    when 'deletion_requested' then ${holds(caller, 'users.write')} and exists (
      select from deletion_requests d where d.user_ref = n.actor_user_ref)
    when 'deletion_decided' then exists (select from deletion_requests d where d.user_ref = n.user_ref and d.state = 'refused')
    when 'like' then ${readablePosts(caller)} and exists (select from ${existingLikes})
    else case when n.comment_id is null then ${readablePosts(caller)} else ${readableComments(caller)} end end) is true)`;
}

/** The title of the requested thing, if the caller may see it; a thing in the trash has none here. */
export function requestTitle(caller: SignedIn): RawBuilder<string | null> {
  return sql`case q.target_kind
    when 'asset' then (select a.title from assets a where a.id = q.target_id and ${shownAssets(caller)})
    when 'post' then (select p.title from posts p where p.id = q.target_id and ${readablePosts(caller)})
    when 'collection' then (select c.name from collections c where c.id = q.target_id and ${readableCollections(caller)})
    end`;
}
