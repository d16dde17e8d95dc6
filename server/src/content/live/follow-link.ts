import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { guestCommentsInSightAt } from '../../access/guests.ts';
import type { LinkVisitor } from '../../access/links.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { StreamEvent, Topic } from '../../platform/http/event-streams.ts';
import { type GuestCommentRow, guestCommentColumns, showLinkComment } from '../guest-comments/show.ts';
import { GONE_AFTER } from './open.ts';

/** Bounds the cost of a link whose address many people have. The streams of all visitors are bounded, too. */
const MOST_OF_A_LINK = 200;

/** Returns a new or removed comment as the visitor sees it: nothing, unless the link shows it to them. */
async function readComment(db: Database, visitor: LinkVisitor, id: string): Promise<StreamEvent[]> {
  const { rows } = await sql<GuestCommentRow & { is_deleted: boolean }>`
    select ${guestCommentColumns}, gc.deleted_at is not null as is_deleted
    from guest_comments gc join link_guests g on g.id = gc.guest_id
    where gc.id = ${id} and ${guestCommentsInSightAt(visitor)}`.execute(db);
  return rows.map(({ is_deleted, ...row }) => ({
    event: 'comment',
    data: is_deleted ? { id: row.id, deleted: true } : showLinkComment(visitor, row),
  }));
}

/** Returns the event of changed names. It contains only the visitor's own name, so that others do not learn who is muted. */
function guestsEvent({ guest }: LinkVisitor): StreamEvent {
  const own = guest === null ? {} : { guest: { name: guest.name, muted: guest.muted } };
  return { event: 'guests', data: own };
}

/**
 * Registers a stream of the feedback of a link, and returns its topic (GUEST-13). `resolve` returns the visitor under the
 * current terms of the link, and throws once it shows them no feedback.
 */
export async function followLink(
  db: Database,
  { linkId }: LinkVisitor,
  resolve: () => Promise<LinkVisitor>,
): Promise<Topic> {
  const stream = randomUUID();
  const register = async () => {
    await db
      .insertInto('link_streams')
      .values({ stream_id: stream, link_id: linkId })
      .onConflict((conflict) => conflict.column('stream_id').doUpdateSet({ seen_at: sql`now()` }))
      .execute();
  };
  await register();
  return {
    key: linkId,
    most: MOST_OF_A_LINK,
    first: null,
    concerns: () => true,
    async read(message) {
      const visitor = await resolve();
      const [what, id = ''] = message.split(' ');
      if (what === 'comment') return readComment(db, visitor, id);
      return what === 'guest' ? [guestsEvent(visitor)] : [];
    },
    beat: register,
    async end() {
      await sql`delete from link_streams where stream_id = ${stream}
        or (link_id = ${linkId} and seen_at < now() - ${GONE_AFTER})`.execute(db);
    },
  };
}
