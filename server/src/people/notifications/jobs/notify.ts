import type { NotificationKind } from '@vitrine/contract/notifications';
import type { ReviewDecision } from '@vitrine/contract/reviews';
import { type RawBuilder, sql } from 'kysely';
import { discussersOf } from '../../../access/annotations.ts';
import { holdersOf } from '../../../access/capabilities.ts';
import { liveComment } from '../../../access/comments.ts';
import { live } from '../../../access/live.ts';
import { livePost, publishedPost } from '../../../access/posts.ts';
import { decidersOf } from '../../../access/requests.ts';
import { awaitedDecision } from '../../../access/reviews.ts';
import type { Deps } from '../../../core/deps.ts';
import type { DomainEvent } from '../../../core/domain-event.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { chosenColumns } from '../choices.ts';
import { mentionedReaders } from '../mentions.ts';
import { MAIL_ATTEMPTS } from './mail.ts';

/** Number of accounts notified per statement. */
const CHUNK = 1000;

interface Notice {
  kind: NotificationKind;
  actor: number | null;
  post?: string;
  comment?: string;
  request?: string;
  review?: string;
  decision?: ReviewDecision;
  asset?: string;
  state?: string;
  team?: string;
  member?: number;
  /** When it happened, if earlier than now. */
  at?: string;
  /** Rows of `user_ref`, few enough for one statement. */
  recipients: RawBuilder<unknown>;
}

/** Attempts for a push message, over about ten minutes (PUSH-5): a later one would be outdated. */
const PUSH_ATTEMPTS = 7;

/** The end of every notifying statement: updates open pages, and enqueues push messages and mail that is due now. */
const deliver = sql`called as materialized (
    select call_out_accounts(array_agg(user_ref)) from notified where in_app),
  mailed as materialized (
    select graphile_worker.add_job('mail-notification', json_build_object('id', id),
      job_key => 'mail:' || id, max_attempts => ${MAIL_ATTEMPTS}) from notified where mail = 'now' and fresh),
  pushed as materialized (
    select graphile_worker.add_job('send-push', json_build_object('notification', n.id, 'subscription', ps.id),
      job_key => 'push:' || n.id || ':' || ps.id, max_attempts => ${PUSH_ATTEMPTS})
    from notified n join push_subscriptions ps on ps.user_ref = n.user_ref where n.in_app and n.fresh)
  select (select count(*) from pushed) as pushed, (select count(*) from called) as called,
    (select count(*) from mailed) as mailed, (select count(*) from recipients) as seen, (select max(user_ref) from recipients) as last`;

/** Recipients except the actor, with their choices for this kind. */
const recipientsOfKind = (kind: NotificationKind, actor: number | null) => sql`
  select r.user_ref, w.in_app, w.mail from recipients r
    join users u on u.ref = r.user_ref left join notification_preferences np on np.user_ref = u.ref,
    lateral (select ${chosenColumns(kind)}) w
  where (w.in_app or w.mail <> 'off') and r.user_ref is distinct from ${actor}::bigint`;

interface Progress {
  seen: number;
  last: number | null;
}

/**
 * Notifies these accounts in one statement. An account is notified of one act at most once, so that retries are safe.
 */
async function notify(db: Database, act: string, notice: Notice): Promise<Progress> {
  const { kind, actor, post = null, comment = null, request = null, at = null, recipients } = notice;
  const { team = null, member = null, review = null, decision = null, asset = null, state = null } = notice;
  const { rows } = await sql<Progress & { pushed: number; called: number; mailed: number }>`
    with recipients as materialized (${recipients}),
    notified as (
      insert into notifications (user_ref, kind, act, actor_user_ref, post_id, comment_id, request_id, team_id,
        member_user_ref, review_id, review_decision, asset_id, state_id, happened_at, in_app, mail)
      select w.user_ref, ${kind}, ${act}, ${actor}, ${post}::uuid, ${comment}::uuid, ${request}::uuid, ${team}::uuid,
        ${member}::bigint, ${review}::uuid, ${decision}, ${asset}::uuid, ${state}::uuid,
        coalesce(${at}::timestamptz, now()), w.in_app, w.mail
      from (${recipientsOfKind(kind, actor)}) w
      on conflict (user_ref, act) where act is not null do nothing
      returning id, user_ref, in_app, mail, true as fresh),
    ${deliver}`.execute(db);
  return rows[0] ?? { seen: 0, last: null };
}

const accounts = (refs: readonly number[]) => sql`select unnest(${[...refs]}::bigint[]) as user_ref`;

interface CommentFacts {
  post_id: string;
  body: string;
  author_user_ref: number | null;
  created_at: string;
  /** Authors of the comments it replies to. */
  answered: number[];
  /** The post's author, unless they stopped watching the post. */
  post_author: number | null;
}

async function commentFacts(db: Database, id: string, answers: string | null): Promise<CommentFacts | null> {
  const { rows } = await sql<CommentFacts>`
    select c.post_id, c.body, c.author_user_ref, c.created_at,
      array(select distinct r.author_user_ref::integer from comments r where r.id in (c.parent_id, ${answers}::uuid)
        and r.post_id = c.post_id and ${live('r')} and r.author_user_ref is not null) as answered,
      case when not exists (select from post_watches w where w.post_id = p.id and w.user_ref = p.author_user_ref
        and not w.watching) then p.author_user_ref end as post_author
    from comments c join posts p on p.id = c.post_id
    where c.id = ${id} and ${liveComment} and ${livePost}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Notifies of a comment: mentioned accounts, authors of parents, the post's author, watchers. Each account gets the
 * first kind that applies.
 */
async function notifyOfComment(db: Database, id: string, answers: string | null): Promise<void> {
  const facts = await commentFacts(db, id, answers);
  if (facts === null) return;
  const about = { actor: facts.author_user_ref, post: facts.post_id, comment: id, at: facts.created_at };
  const act = `comment:${id}`;
  const mentioned = await mentionedReaders(db, facts.body, facts.post_id, discussersOf);
  await notify(db, act, { ...about, kind: 'mention', recipients: accounts(mentioned) });
  await notify(db, act, { ...about, kind: 'reply', recipients: accounts(facts.answered) });
  const author = facts.post_author === null ? [] : [facts.post_author];
  await notify(db, act, { ...about, kind: 'comment', recipients: accounts(author) });
  for (let after: number | null = 0; after !== null; ) {
    const watching = sql`select w.user_ref from post_watches w
      where w.post_id = ${facts.post_id} and w.watching and w.created_at <= ${facts.created_at}::timestamptz
        and w.user_ref > ${after} order by w.user_ref limit ${CHUNK}`;
    const { seen, last }: Progress = await notify(db, act, {
      ...about,
      kind: 'watched_comment',
      recipients: watching,
    });
    after = seen === CHUNK ? last : null;
  }
}

/** Notifies of an edited comment: accounts mentioned in it that were not notified of it before. */
async function notifyOfEdit(db: Database, id: string): Promise<void> {
  const facts = await commentFacts(db, id, null);
  if (facts === null) return;
  const recipients = accounts(await mentionedReaders(db, facts.body, facts.post_id, discussersOf));
  await notify(db, `comment:${id}`, {
    kind: 'mention',
    actor: facts.author_user_ref,
    post: facts.post_id,
    comment: id,
    recipients,
  });
}

/** Notifies accounts mentioned in the description of a published post, once per post. */
async function notifyOfPost(db: Database, id: string, actor: number): Promise<void> {
  const row = await db
    .selectFrom('posts as p')
    .select('p.description')
    .where('p.id', '=', id)
    .where(publishedPost)
    .executeTakeFirst();
  const recipients = accounts(await mentionedReaders(db, row?.description ?? '', id));
  await notify(db, `post:${id}`, { kind: 'mention', actor, post: id, recipients });
}

/** Notifies the members of a team, the new one among them, of a member that was added (TEAM-9). */
async function notifyOfMember(
  db: Database,
  { team, member, actor, at, joinedWithMany = false }: Extract<DomainEvent, { what: 'member' }>,
): Promise<void> {
  const concerned = joinedWithMany ? sql`tm.user_ref = ${member}` : sql`true`;
  for (let after: number | null = 0; after !== null; ) {
    const recipients = sql`select tm.user_ref from team_members tm
      where tm.team_id = ${team} and ${concerned} and tm.user_ref > ${after} order by tm.user_ref limit ${CHUNK}`;
    const { seen, last }: Progress = await notify(db, `member:${team}:${member}:${at}`, {
      kind: 'team_member_added',
      actor,
      team,
      member,
      at,
      recipients,
    });
    after = seen === CHUNK ? last : null;
  }
}

type ReviewEvent = Extract<DomainEvent, { review: string }>;

/** Whom an event of a review concerns (REVIEW-12). */
function concernedBy(event: ReviewEvent): RawBuilder<unknown> {
  const reviewers = sql`select rr.user_ref from review_reviewers rr join reviews r on r.id = rr.review_id
    join reviewed_posts rp on rp.post_id = r.post_id join users ru on ru.ref = rr.user_ref where r.id = ${event.review}`;
  const waiting = sql`select r.requested_by_user_ref as user_ref from reviews r
      where r.id = ${event.review} and r.requested_by_user_ref is not null
    union select p.author_user_ref from reviews r join posts p on p.id = r.post_id where r.id = ${event.review}`;
  switch (event.what) {
    case 'review_requested':
      return reviewers;
    case 'review_decided':
      return waiting;
    case 'review_reopened':
      return sql`${reviewers} and rr.decision is not null and ${awaitedDecision}`;
    case 'review_due':
      return event.when === 'before'
        ? sql`${reviewers} and ${awaitedDecision}`
        : sql`select user_ref from (${reviewers} and ${awaitedDecision}) x
          union (select w.user_ref from (${waiting}) w where exists (${reviewers} and ${awaitedDecision}))`;
  }
}

/** Notifies those whom an event of a review concerns. */
async function notifyOfReview(db: Database, event: ReviewEvent): Promise<void> {
  const { what: kind, review } = event;
  const row = await db.selectFrom('reviews').select('post_id').where('id', '=', review).executeTakeFirst();
  if (row === undefined) return;
  await notify(db, Object.values(event).join(':'), {
    kind,
    actor: 'actor' in event ? event.actor : null,
    post: row.post_id,
    review,
    ...(event.what === 'review_decided' ? { decision: event.decision } : {}),
    recipients: concernedBy(event),
  });
}

/** Updates an unread notification that collects several acts. The next digest has it again, because it has news (NOTICE-11). */
const sharedWithEarlier = sql`happened_at = excluded.happened_at, in_app = excluded.in_app, mail = excluded.mail,
  created_at = case when notifications.mailed_at is null then notifications.created_at else now() end,
  mailed_at = case when excluded.mail = 'digest' then null else notifications.mailed_at end`;

/** Adds a like to the unread notification of its post, or creates one; the same like notifies only once. */
async function notifyOfLike(db: Database, post: string, actor: number): Promise<void> {
  await sql`
    with recipients as materialized (
      select p.author_user_ref as user_ref from posts p
        join post_likes k on k.post_id = p.id and k.user_ref = ${actor}
      where p.id = ${post} and ${livePost} and not exists (
        select from notified_likes nl where nl.post_id = p.id and nl.actor_user_ref = ${actor})),
    notified as (
      insert into notifications (user_ref, kind, actor_user_ref, post_id, in_app, mail)
      select w.user_ref, 'like', ${actor}, ${post}::uuid, w.in_app, w.mail from (${recipientsOfKind('like', actor)}) w
      on conflict (user_ref, post_id) where kind = 'like' and read_at is null
        do update set actor_user_ref = excluded.actor_user_ref, ${sharedWithEarlier}
      returning id, user_ref, in_app, mail, xmax = 0 as fresh),
    noted as (
      insert into notified_likes (post_id, actor_user_ref, notification_id)
      select ${post}::uuid, ${actor}, id from notified on conflict do nothing),
    ${deliver}`.execute(db);
}

/** Notifies an account of an annotation that is still assigned to it (NOTICE-20). */
async function notifyOfAssignment(
  db: Database,
  { comment, assignee, actor, at }: Extract<DomainEvent, { what: 'assigned' }>,
): Promise<void> {
  const row = await db
    .selectFrom('comments')
    .select('post_id')
    .where('id', '=', comment)
    .where('assignee_user_ref', '=', assignee)
    .executeTakeFirst();
  if (row === undefined) return;
  await notify(db, `assigned:${comment}:${assignee}:${at}`, {
    kind: 'assigned',
    actor,
    post: row.post_id,
    comment,
    recipients: accounts([assignee]),
  });
}

/** When guests last commented, decided or picked at a link; null if nothing of it is left. */
const lastGuestAct = (link: string) => sql`(select max(x.at) from (
  select max(gc.created_at) as at from guest_comments gc where gc.link_id = ${link} and gc.deleted_at is null
  union all select max(d.decided_at) from link_decisions d where d.link_id = ${link}
  union all select max(k.picked_at) from link_picks k where k.link_id = ${link}) x)`;

/**
 * Notifies the account that made a link of what its guests left there, once until the notification is read (NOTICE-21).
 * What an earlier notification covers is not announced again.
 */
async function notifyOfGuests(db: Database, link: string): Promise<void> {
  await sql`
    with recipients as materialized (
      select l.created_by_user_ref as user_ref, g.at
      from share_links l, lateral (select ${lastGuestAct(link)} as at offset 0) g
      where l.id = ${link} and g.at is not null and not exists (select from notifications n
        where n.user_ref = l.created_by_user_ref and n.link_id = l.id and n.happened_at >= g.at)),
    notified as (
      insert into notifications (user_ref, kind, link_id, happened_at, in_app, mail)
      select w.user_ref, 'guest_feedback', ${link}::uuid, (select at from recipients), w.in_app, w.mail
      from (${recipientsOfKind('guest_feedback', null)}) w
      on conflict (user_ref, link_id) where kind = 'guest_feedback' and read_at is null
        do update set ${sharedWithEarlier}
      returning id, user_ref, in_app, mail, xmax = 0 as fresh),
    ${deliver}`.execute(db);
}

/** Notifies the accounts that a domain event concerns. Idempotent. */
export async function notifyOf(db: Database, event: DomainEvent): Promise<void> {
  switch (event.what) {
    case 'comment':
      return notifyOfComment(db, event.comment, event.answers);
    case 'assigned':
      return notifyOfAssignment(db, event);
    case 'guest_feedback':
      return notifyOfGuests(db, event.link);
    case 'comment_edited':
      return notifyOfEdit(db, event.comment);
    case 'post':
      return notifyOfPost(db, event.post, event.actor);
    case 'like':
      return notifyOfLike(db, event.post, event.actor);
    case 'follow': {
      const { actor, followed } = event;
      await notify(db, `follow:${actor}`, { kind: 'follow', actor, recipients: accounts([followed]) });
      return;
    }
    case 'member':
      return notifyOfMember(db, event);
    case 'publish_failed': {
      const { post, at } = event;
      const recipients = sql`select author_user_ref as user_ref from posts where id = ${post}`;
      await notify(db, `publish_failed:${post}:${at}`, {
        kind: 'publish_failed',
        actor: null,
        post,
        recipients,
      });
      return;
    }
    case 'request': {
      const { request, actor } = event;
      const recipients = accounts(await decidersOf(db, request));
      await notify(db, `request:${request}`, { kind: 'request_received', actor, request, recipients });
      return;
    }
    case 'deletion_request': {
      const { request, actor } = event;
      const recipients = accounts(await holdersOf(db, 'users.write'));
      await notify(db, `deletion_request:${request}`, { kind: 'deletion_requested', actor, recipients });
      return;
    }
    case 'deletion_decision': {
      const { request, user, actor } = event;
      const recipients = accounts([user]);
      await notify(db, `deletion_decision:${request}`, { kind: 'deletion_decided', actor, recipients });
      return;
    }
    case 'decision': {
      const { request, actor } = event;
      const recipients = sql`select requester_user_ref as user_ref from resource_requests where id = ${request}`;
      await notify(db, `decision:${request}`, { kind: 'request_decided', actor, request, recipients });
      return;
    }
    case 'state': {
      const { asset, state, actor, act } = event;
      const recipients = sql`select a.owner_user_ref as user_ref from assets a
        where a.id = ${asset} and a.owner_user_ref is not null and a.state_id = ${state}`;
      await notify(db, `state:${act}`, { kind: 'state_changed', actor, asset, state, recipients });
      return;
    }
    case 'review_requested':
    case 'review_decided':
    case 'review_reopened':
    case 'review_due':
      return notifyOfReview(db, event);
  }
}

export function announceJob({ db }: Pick<Deps, 'db'>): JobHandler<'announce'> {
  return (event) => notifyOf(db, event);
}
