import {
  getUnreadCount,
  listNotifications,
  MOST_UNREAD,
  readAllNotifications,
  readNotification,
} from '@vitrine/contract/notifications';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { notificationTargets, visibleNotifications } from '../../access/notifications.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { showNotifications } from './show.ts';

const unread = sql<boolean>`(n.in_app and n.read_at is null)`;

/** Newest first; only notifications for the app, not those for mail only. */
export const list = handle(listNotifications, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'n.happened_at', 'n.id');
  const which = query.unread === true ? unread : sql<boolean>`n.in_app`;
  const rows = await showNotifications(db, caller, sql`${which} and ${page.after}`, page.order);
  const cut = page.cut(rows, (row) => ({ at: row.happened_at, id: row.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

/** Returns how many notifications are unread, up to the counting limit, and when the newest of these happened. */
export async function countUnread(
  db: Database,
  caller: SignedIn,
): Promise<{ count: number; newest: string | null }> {
  const { rows } = await sql<{ count: number; newest: string | null }>`
    select count(*) as count, max(happened_at) as newest from (
      select n.happened_at from notifications n ${notificationTargets}
      where ${visibleNotifications(caller)} and ${unread}
      order by n.happened_at desc, n.id desc limit ${MOST_UNREAD}) x`.execute(db);
  return rows[0] ?? { count: 0, newest: null };
}

export const showUnreadCount = handle(getUnreadCount, async ({ db }, { caller }) => {
  const { count } = await countUnread(db, caller);
  return { status: 200, body: { count } };
});

/** Marks the caller's visible unread notifications as read, and updates their other pages. Returns the visible ones. */
async function markRead(db: Database, caller: SignedIn, which: RawBuilder<boolean>): Promise<number> {
  const { rows } = await sql<{ seen: number; called: number }>`
    with seen as materialized (
      select n.id, n.read_at from notifications n ${notificationTargets}
      where ${visibleNotifications(caller)} and n.in_app and ${which}),
    marked as (
      update notifications set read_at = now()
      where id in (select id from seen where read_at is null) and read_at is null returning user_ref),
    called as materialized (select call_out_accounts(array_agg(distinct user_ref)) from marked)
    select (select count(*) from seen) as seen, (select count(*) from called) as called`.execute(db);
  return rows[0]?.seen ?? 0;
}

export const read = handle(readNotification, async ({ db }, { caller, params }) => {
  if ((await markRead(db, caller, sql`n.id = ${params.id}`)) === 0) throw notFound();
  return { status: 204 };
});

export const readAll = handle(readAllNotifications, async ({ db }, { caller }) => {
  await markRead(db, caller, sql`n.read_at is null`);
  return { status: 204 };
});
