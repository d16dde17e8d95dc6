import { randomUUID } from 'node:crypto';
import type { Notification } from '@vitrine/contract/notifications';
import { must } from '../cells.ts';
import { type About, isShown } from '../described-world.ts';
import { type PostCell, readsCollection, readsPost } from '../due.ts';
import { accountDoor, adminDoor, itemsAt, refusalOf, threadOf, together } from '../send-requests.ts';
import { type Caller, inChunks } from '../world.ts';
import { type Ask, decides } from './requests.ts';

/**
 * Notifications: accounts see only their own, and none about content that they cannot read now. Every account receives a
 * notification about every object, as if it had been able to read all of them once.
 */

interface Cell {
  id: string;
  kind: Notification['kind'];
  actor: number | null;
  post?: PostCell;
  comment?: string;
  ask?: Ask;
  /** Whether this recipient, an account, sees it. */
  isTold: (recipient: Caller) => boolean;
  /** Sent only by mail. */
  isMailOnly?: true;
}

/** Notifications about objects, by whether the recipient may see them. */
function isTitleTold({ target }: Ask, { kind }: Caller): boolean {
  switch (target.kind) {
    case 'asset':
      return isShown(kind, target.cell);
    case 'post':
      return readsPost(kind, target.cell);
    case 'collection':
      return readsCollection(kind, target.cell);
  }
}

/** Likes: only those of the first of these posts still exist. */
const likedPosts = ({ world }: About) => world.posts.filter(({ tag }) => tag === 'product').slice(0, 20);
const stands = (index: number) => index % 3 !== 2;

function cellsFor(about: About, recipient: Caller, liker: number, asks: readonly Ask[]): Cell[] {
  const { world } = about;
  const threads = world.sample;
  const person = world.refOf('commenter');
  const never = () => false;
  const cell = (one: Omit<Cell, 'id'>): Cell => ({ id: randomUUID(), ...one });
  return [
    ...threads.flatMap((post) => {
      const { byCommenter, deletedRoot } = threadOf(post);
      const said = { actor: person, post };
      const isTold = ({ kind }: Caller) => readsPost(kind, post);
      return [
        cell({ kind: 'comment', ...said, comment: byCommenter, isTold }),
        cell({ kind: 'reply', ...said, comment: deletedRoot, isTold: never }),
        cell({ kind: 'mention', ...said, isTold }),
        cell({ kind: 'watched_comment', ...said, comment: byCommenter, isTold, isMailOnly: true }),
      ];
    }),
    ...likedPosts(about).map((post, index) =>
      cell({
        kind: 'like',
        actor: liker,
        post,
        isTold: ({ kind }) => stands(index) && readsPost(kind, post),
      }),
    ),
    // Accounts that still follow.
    cell({ kind: 'follow', actor: world.refOf('follower'), isTold: ({ kind }) => kind === 'author' }),
    cell({ kind: 'follow', actor: world.refOf('stranger'), isTold: ({ kind }) => kind === 'owner' }),
    cell({ kind: 'follow', actor: world.refs.gone, isTold: never }),
    ...asks.flatMap((ask) => {
      const asker = must(about.callers.find(({ name }) => name === ask.by)?.ref, ask.by);
      return [
        cell({ kind: 'request_received', actor: asker, ask, isTold: (who) => decides(about, who, ask) }),
        cell({ kind: 'request_decided', actor: null, ask, isTold: (who) => who.ref === asker }),
      ];
    }),
    cell({ kind: 'request_received', actor: person, isTold: never }),
    cell({ kind: 'request_decided', actor: person, isTold: never }),
  ].filter(({ ask }) => ask === undefined || recipient.ref !== null);
}

/** The notifications of every account, by ref. */
export type News = ReadonlyMap<number, Cell[]>;

/** Notifications about some requests of every kind. */
export async function addNotifications(about: About, asks: readonly Ask[]): Promise<News> {
  const { world, callers } = about;
  const { db } = world.library.deps;
  const some = asks.filter((_, index) => index % 4 === 0);
  const accounts = callers.filter(({ name, kind, ref }, place) => {
    const isFirst = callers.findIndex((one) => one.ref === ref) === place;
    return ref !== null && (isFirst || name === kind);
  });
  const refs = accounts.map(({ ref }) => must(ref, 'ref'));
  const byAccount = new Map<number, Cell[]>();
  // Each account is notified of the next account's likes, because a like notifies only one account.
  for (const [place, caller] of accounts.entries()) {
    const liker = must(refs[(place + 1) % refs.length], 'liker');
    byAccount.set(must(caller.ref, 'ref'), cellsFor(about, caller, liker, some));
  }
  const all = [...byAccount].flatMap(([user_ref, cells]) => cells.map((cell) => ({ user_ref, ...cell })));
  const rows = all.map(({ id, user_ref, kind, actor, post, comment, ask, isMailOnly }) => ({
    id,
    user_ref,
    kind,
    act: kind === 'like' ? null : `matrix ${id}`,
    actor_user_ref: actor,
    post_id: post?.id ?? null,
    comment_id: comment ?? null,
    request_id: ask?.id ?? null,
    in_app: isMailOnly !== true,
    mail: 'off' as const,
  }));
  await inChunks(rows, (chunk) => db.insertInto('notifications').values(chunk).execute());
  const likes = all.flatMap(({ id, kind, actor, post }) =>
    kind === 'like' && post !== undefined && actor !== null
      ? [{ notification_id: id, post_id: post.id, actor_user_ref: actor }]
      : [],
  );
  await db.insertInto('notified_likes').values(likes).execute();
  const places = new Map(likedPosts(about).map(({ id }, index) => [id, index]));
  const given = likes
    .filter(({ post_id }) => stands(places.get(post_id) ?? 0))
    .map(({ post_id, actor_user_ref }) => ({ post_id, user_ref: actor_user_ref }));
  await db.insertInto('post_likes').values(given).execute();
  return byAccount;
}

function lookOf({ kind, post, comment, request, actor_count }: Notification): string {
  const title = request === undefined ? '' : ` ${request.target_kind} named ${request.title !== undefined}`;
  return `${kind} ${post?.id ?? ''} ${comment?.id ?? ''}${title} ${actor_count}`;
}

function dueOf({ kind, post, comment, ask }: Cell, recipient: Caller): string {
  const title = ask === undefined ? '' : ` ${ask.target.kind} named ${isTitleTold(ask, recipient)}`;
  return `${kind} ${post?.id ?? ''} ${comment ?? ''}${title} 1`;
}

export async function lookAtNotifications({ ledger, callers }: About, byAccount: News) {
  await together(callers, async (caller) => {
    const refusal = refusalOf(caller, accountDoor);
    const { status, text } = await caller.visitor.send('/account/notifications/unread-count');
    ledger.hold(`${caller.name}: unread: status`, status, refusal ?? 200);
    if (refusal !== null) return;
    const cells = must(byAccount.get(caller.ref ?? 0), caller.name);
    const all = await itemsAt<Notification>(caller.visitor, '/account/notifications');
    const seen = new Map(all.map((one) => [one.id, lookOf(one)]));
    const told = cells.filter((cell) => cell.isMailOnly !== true && cell.isTold(caller));
    for (const cell of cells) {
      const due = told.includes(cell) ? dueOf(cell, caller) : 'absent';
      const label = () =>
        `${caller.name}: ${cell.kind} ${cell.ask === undefined ? '' : JSON.stringify(cell.ask)}`;
      ledger.hold(label, seen.get(cell.id) ?? 'absent', due);
    }
    ledger.hold(`${caller.name}: how many`, seen.size, told.length);
    const { count }: { count: number } = JSON.parse(text);
    ledger.hold(`${caller.name}: unread`, count, told.length);
  });
}

/** Accounts mark their own visible notifications as read; those of others and hidden ones do not exist for them. */
export async function tryToRead({ ledger, callers }: About, byAccount: News) {
  await together([...callers.entries()], async ([place, caller]) => {
    const refusal = refusalOf(caller, adminDoor);
    const mark = async (what: string, id: string, due: number) => {
      const { status } = await caller.visitor.send(`/account/notifications/${id}/read`, { method: 'POST' });
      ledger.hold(`${caller.name}: read ${what}`, status, refusal ?? due);
    };
    const [another] = [...byAccount].find(([ref]) => ref !== caller.ref) ?? [];
    const theirs = byAccount.get(another ?? 0) ?? [];
    for (const kind of ['comment', 'mention', 'like', 'request_decided']) {
      for (const cell of theirs.filter((one) => one.kind === kind).slice(0, 1))
        await mark(`another's ${kind}`, cell.id, 404);
    }
    const mine = byAccount.get(caller.ref ?? 0) ?? [];
    for (const cell of mine.filter((_, index) => (index + place) % 31 === 0))
      await mark(`a ${cell.kind}`, cell.id, cell.isMailOnly !== true && cell.isTold(caller) ? 204 : 404);
  });
}
