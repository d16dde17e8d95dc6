import type { PostAuthor } from '@vitrine/contract/identity';
import type { Notification, NotificationKind } from '@vitrine/contract/notifications';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import {
  existingLikes,
  notificationTargets,
  requestTitle,
  visibleNotifications,
} from '../../access/notifications.ts';
import { reviewToRead } from '../../access/reviews.ts';
import { type Database, timestampOfJson } from '../../platform/database/pool.ts';

/** Length of a comment's excerpt. */
const EXCERPT = 200;
/** Likes of one post are counted up to this number. */
const MOST_ACTORS = 1000;

interface NotificationRow {
  id: string;
  kind: NotificationKind;
  actor: PostAuthor | null;
  like_actor: PostAuthor | null;
  actor_count: number;
  post_id: string | null;
  post_title: string | null;
  comment_id: string | null;
  parent_id: string | null;
  excerpt: string | null;
  request_id: string | null;
  team_id: string | null;
  team_name: string | null;
  member: PostAuthor | null;
  target_kind: 'asset' | 'post' | 'collection' | null;
  target_id: string | null;
  requested_capability: string | null;
  state: 'pending' | 'granted' | 'denied' | 'expired' | null;
  request_title: string | null;
  review_id: string | null;
  review_due_at: string | null;
  review_decision: 'approved' | 'changes_requested' | null;
  /** For a comment: the review at which the recipient reads its draft. */
  read_in: { id: string; due_at: string | null } | null;
  asset_id: string | null;
  asset_title: string | null;
  state_id: string | null;
  state_label: string | null;
  link_id: string | null;
  link_label: string | null;
  link_target_kind: 'asset' | 'post' | 'collection' | null;
  link_target_id: string | null;
  read: boolean;
  happened_at: string;
}

function requestOf(row: NotificationRow): Pick<Notification, 'request'> {
  const { request_id: id, target_kind, target_id, requested_capability, state, request_title: title } = row;
  if (!id || !target_kind || !target_id || !requested_capability || !state) return {};
  const request = { id, target_kind, target_id, requested_capability, state };
  return { request: title === null ? request : { ...request, title } };
}

function reviewOf(row: NotificationRow): Pick<Notification, 'review'> {
  const { review_id: id, review_due_at: due_at, review_decision: decision, read_in } = row;
  if (id !== null) return { review: { id, due_at, decision } };
  if (read_in === null) return {};
  const due = read_in.due_at === null ? null : timestampOfJson(read_in.due_at);
  return { review: { id: read_in.id, due_at: due, decision: null } };
}

function linkOf(row: NotificationRow): Pick<Notification, 'link'> {
  const { link_id: id, link_label: label, link_target_kind: target_kind, link_target_id: target_id } = row;
  return id && target_kind && target_id ? { link: { id, label: label ?? '', target_kind, target_id } } : {};
}

function show(row: NotificationRow): Notification {
  const actor = row.kind === 'like' ? row.like_actor : row.actor;
  return {
    id: row.id,
    kind: row.kind,
    ...(actor === null ? {} : { actor }),
    actor_count: row.actor_count,
    ...(row.post_id === null ? {} : { post: { id: row.post_id, title: row.post_title ?? '' } }),
    ...(row.comment_id === null
      ? {}
      : { comment: { id: row.comment_id, parent_id: row.parent_id, excerpt: row.excerpt ?? '' } }),
    ...(row.team_id === null ? {} : { team: { id: row.team_id, name: row.team_name ?? '' } }),
    ...(row.team_id === null || row.member === null ? {} : { member: row.member }),
    ...requestOf(row),
    ...reviewOf(row),
    ...(row.asset_id === null ? {} : { asset: { id: row.asset_id, title: row.asset_title ?? '' } }),
    ...(row.state_id === null ? {} : { state: { id: row.state_id, label: row.state_label ?? '' } }),
    ...linkOf(row),
    read: row.read,
    happened_at: row.happened_at,
  };
}

/** Returns the caller's notifications `n` that meet a condition, as currently visible, in one statement. */
export async function showNotifications(
  db: Database,
  caller: SignedIn,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown>,
): Promise<Notification[]> {
  // Likes: how many still exist, and whose is the latest of them.
  const { rows } = await sql<NotificationRow>`
    select n.id, n.kind, ${identityJson(caller, 'au')} as actor,
      case when n.kind = 'like' then (select ${identityJson(caller, 'lu')} from users lu where lu.ref = (
        select x.user_ref from (select k.user_ref from ${existingLikes} limit ${MOST_ACTORS}) x
        order by x.user_ref = n.actor_user_ref desc limit 1)) end as like_actor,
      case when n.kind = 'like' then (
        select count(*) from (select from ${existingLikes} limit ${MOST_ACTORS}) x) else 1 end as actor_count,
      n.post_id, p.title as post_title, n.comment_id, c.parent_id, left(c.body, ${EXCERPT}) as excerpt,
      n.request_id, q.target_kind, q.target_id, q.requested_capability, q.state,
      n.team_id, t.name as team_name, ${identityJson(caller, 'mu')} as member,
      n.asset_id, a.title as asset_title, n.state_id,
      (select ws.label from workflow_states ws where ws.id = n.state_id) as state_label,
      n.link_id, l.label as link_label, coalesce(l.post_id, l.asset_id, l.collection_id) as link_target_id,
      case when l.post_id is not null then 'post' when l.asset_id is not null then 'asset'
        when l.id is not null then 'collection' end as link_target_kind,
      n.review_id, r.due_at as review_due_at, n.review_decision,
      case when n.comment_id is not null then (select row_to_json(x) from (${reviewToRead(caller)}) x) end as read_in,
      ${requestTitle(caller)} as request_title, n.read_at is not null as read, n.happened_at
    from notifications n ${notificationTargets}
    where ${visibleNotifications(caller)} and ${which} ${rest}`.execute(db);
  return rows.map(show);
}
