import { type RawBuilder, sql } from 'kysely';
import { sensitiveAsset } from './federation.ts';
import { activeAccount } from './live.ts';
import {
  peopleForVisitors,
  picturesForVisitors,
  postPagesForVisitors,
  postsForVisitors,
} from './visitors.ts';

/**
 * What everyone may follow over ActivityPub: at most what visitors see in public mode, of accounts that opted in, without
 * mature and restricted content (AP-3). Predicates refer to `posts p`, `assets a`, `users u` and `activitypub_actors ap`.
 */
type Predicate = RawBuilder<boolean>;

/** Accounts `u` that may be followable: those whose profile visitors can open. */
export const mayBeFollowable: Predicate = sql`(${activeAccount('u')} and ${peopleForVisitors})`;

/** Actors `ap` of accounts `u` that are served. */
export const followableActor: Predicate = sql`(ap.withdrawn_at is null and ${mayBeFollowable})`;

/** Members `a` of a post that are sent along. */
export const sentMember: Predicate = sql`((a.status = 'active' and a.origin_peer_id is null and not ${sensitiveAsset}
  and ${picturesForVisitors}) is true)`;

/**
 * Posts `p` that followers are sent: those that visitors read, made here. A post of which every member is withheld is not
 * sent at all.
 */
export const followablePost: Predicate = sql`(${postsForVisitors} and ${postPagesForVisitors} and p.origin_peer_id is null
  and coalesce((select bool_or(${sentMember}) from post_members m join assets a on a.id = m.asset_id
    where m.post_id = p.id), true))`;
