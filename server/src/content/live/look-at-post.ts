import { randomUUID } from 'node:crypto';
import type { PostAuthor } from '@vitrine/contract/identity';
import { sql } from 'kysely';
import { commentsInSight, getsEvent, mayDiscuss, shownViewer, viewersOf } from '../../access/annotations.ts';
import type { Caller, SignedIn } from '../../access/caller.ts';
import { guestCommentsInSightIn } from '../../access/guests.ts';
import { identityJson } from '../../access/identities.ts';
import { manageableLinks } from '../../access/links.ts';
import { readablePosts } from '../../access/posts.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { StreamEvent, Topic } from '../../platform/http/event-streams.ts';
import { type CommentRow, commentColumns, showComment } from '../comments/show.ts';
import { type GuestCommentRow, guestCommentColumns, showInThread } from '../guest-comments/show.ts';
import { readReviewNews } from '../reviews/show.ts';
import { GONE_AFTER } from './open.ts';

/** Returns the event of a changed comment; none unless the thread shows it to this caller (ANNOTATION-10). */
async function readChange(
  db: Database,
  caller: Caller,
  event: 'comment' | 'resolved',
  id: string,
): Promise<StreamEvent[]> {
  const { rows } = await sql<CommentRow & { is_deleted: boolean }>`
    select ${commentColumns(caller)}, c.deleted_at is not null as is_deleted
    from comments c join posts p on p.id = c.post_id left join users cu on cu.ref = c.author_user_ref
    where c.id = ${id} and ${commentsInSight(caller)}`.execute(db);
  return rows.map(({ is_deleted, ...row }) =>
    is_deleted
      ? { event: 'comment', data: { id: row.id, post_id: row.post_id, deleted: true } }
      : { event, data: showComment(row) },
  );
}

/** Returns a review as this caller reads it: nothing, unless they edit its post or are asked (REVIEW-13). */
async function readDecision(db: Database, caller: SignedIn, id: string): Promise<StreamEvent[]> {
  const review = await readReviewNews(db, caller, id);
  return review === null ? [] : [{ event: 'decision', data: review }];
}

/** Returns which whiteboard changed, to those who read the post and not only its annotations (BOARD-10). */
async function readWhiteboardNews(
  db: Database,
  caller: Caller,
  postId: string,
  id: string,
): Promise<StreamEvent[]> {
  const { rows } = await sql<{ updated_at: string | null }>`
    select w.updated_at from posts p left join whiteboards w on w.id = ${id}::uuid and w.post_id = p.id
    where p.id = ${postId} and ${readablePosts(caller)}`.execute(db);
  return rows.map(({ updated_at }) => ({
    event: 'whiteboard',
    data: { id, post_id: postId, ...(updated_at === null ? { deleted: true } : { updated_at }) },
  }));
}

/** Returns a comment of a guest as the thread shows it to the editors of the post; to others nothing (GUEST-14). */
async function readGuestNews(
  db: Database,
  caller: SignedIn,
  postId: string,
  id: string,
): Promise<StreamEvent[]> {
  const { rows } = await sql<GuestCommentRow & { is_deleted: boolean }>`
    select ${guestCommentColumns}, gc.deleted_at is not null as is_deleted
    from guest_comments gc join link_guests g on g.id = gc.guest_id
    where gc.id = ${id} and ${guestCommentsInSightIn(caller, postId)}`.execute(db);
  return rows.map(({ is_deleted, ...row }) => ({
    event: 'comment',
    data: is_deleted ? { id: row.id, post_id: postId, deleted: true } : showInThread(postId, row),
  }));
}

/** Returns that the feedback of a link has changed, to those who read it (GUEST-14). */
async function readFeedbackNews(db: Database, caller: SignedIn, linkId: string): Promise<StreamEvent[]> {
  const { rows } =
    await sql`select from share_links l where l.id = ${linkId} and ${manageableLinks(caller)}`.execute(db);
  return rows.map(() => ({ event: 'feedback', data: { link_id: linkId } }));
}

/** Returns the accounts that look at a post and may read it now, by name (ANNOTATION-11). */
async function readPresence(db: Database, caller: SignedIn, postId: string): Promise<StreamEvent[]> {
  const { rows: looking } = await sql<{ user_ref: number }>`select distinct user_ref from post_presence
    where post_id = ${postId} and user_ref is not null and seen_at > now() - ${GONE_AFTER}`.execute(db);
  const refs = await viewersOf(
    db,
    looking.map(({ user_ref }) => user_ref),
    postId,
  );
  const { rows } = await sql<{ viewer: PostAuthor }>`select ${identityJson(caller, 'u')} as viewer
    from users u where u.ref = any(${refs}::bigint[]) order by u.ref`.execute(db);
  return [{ event: 'presence', data: { viewers: rows.map(({ viewer }) => viewer) } }];
}

/** Returns the events that a message about a post means for the caller. */
async function readNews(
  db: Database,
  caller: Caller,
  postId: string,
  message: string,
): Promise<StreamEvent[]> {
  const [what = '', id = ''] = message.split(' ');
  if (what === 'whiteboard') return readWhiteboardNews(db, caller, postId, id);
  if (what === 'comment' || what === 'resolved') return readChange(db, caller, what, id);
  if (caller.kind === 'anonymous') return [];
  if (what === 'presence') return readPresence(db, caller, postId);
  if (what === 'guest') return readGuestNews(db, caller, postId, id);
  if (what === 'feedback') return readFeedbackNews(db, caller, id);
  return what === 'decision' ? readDecision(db, caller, id) : [];
}

/**
 * Registers that the caller has a post open, and returns the topic of the post. `resolve` returns the caller with their
 * current rights, which decide about each event.
 */
export async function lookAtPost(
  db: Database,
  caller: Caller,
  postId: string,
  resolve: () => Promise<Caller | null>,
): Promise<Topic> {
  const stream = randomUUID();
  const shown = shownViewer(caller);
  // Without an account to show, the list of viewers stays as it is.
  const notifyViewers = async () => {
    if (shown !== null) await sql`select tell_post(${postId}::uuid, 'presence')`.execute(db);
  };
  const leave = async () => {
    await sql`delete from post_presence where stream_id = ${stream}
      or (post_id = ${postId} and seen_at < now() - ${GONE_AFTER})`.execute(db);
    await notifyViewers();
  };
  // A post without such rows has no events (`tell_post`), so visitors have one, too.
  const register = () =>
    db
      .insertInto('post_presence')
      .values({ stream_id: stream, post_id: postId, user_ref: shown })
      .onConflict((conflict) => conflict.column('stream_id').doUpdateSet({ seen_at: sql`now()` }))
      .execute();
  await register();
  await notifyViewers();
  return {
    key: postId,
    most: null,
    first: getsEvent(caller, 'presence') ? 'presence' : null,
    concerns: (message) => getsEvent(caller, message.split(' ', 1)[0] ?? ''),
    async read(message) {
      const now = await resolve();
      return now === null || !(await mayDiscuss(db, now, postId)) ? [] : readNews(db, now, postId, message);
    },
    async beat() {
      await register();
    },
    end: leave,
  };
}
