import type { InfiniteData } from '@tanstack/svelte-query';
import type { Comment, CommentRoot } from '@vitrine/contract/comments';

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** The loaded comments of a post: the roots, newest first. */
export type Thread = InfiniteData<Page<CommentRoot>, string>;

/** The loaded replies to a comment, newest first. */
export type Replies = InfiniteData<Page<Comment>, string>;

function changeItems<T>(
  list: InfiniteData<Page<T>, string>,
  change: (items: T[]) => T[],
): InfiniteData<Page<T>, string> {
  return { ...list, pages: list.pages.map((page) => ({ ...page, items: change(page.items) })) };
}

function withFirst<T extends { readonly id: string }>(
  list: InfiniteData<Page<T>, string>,
  item: T,
): InfiniteData<Page<T>, string> {
  const [first, ...rest] = list.pages;
  if (first === undefined || list.pages.some((page) => page.items.some((comment) => comment.id === item.id)))
    return list;
  return { ...list, pages: [{ ...first, items: [item, ...first.items] }, ...rest] };
}

/** Returns the thread with a new comment at its top. */
export function withRoot(thread: Thread, comment: Comment): Thread {
  return withFirst(thread, { ...comment, replies: [] });
}

/** Returns the replies with a new one as the newest. */
export function withReply(replies: Replies, reply: Comment): Replies {
  return withFirst(replies, reply);
}

/** Returns the thread with a new reply counted, and shown if all earlier replies are shown. */
export function withReplyBelow(thread: Thread, reply: Comment): Thread {
  return changeItems(thread, (roots) =>
    roots.map((root) => {
      if (root.id !== reply.parent_id || root.replies.some((known) => known.id === reply.id)) return root;
      const allShown = root.replies.length === root.reply_count;
      return {
        ...root,
        reply_count: root.reply_count + 1,
        replies: allShown ? [...root.replies, reply] : root.replies,
      };
    }),
  );
}

type Change = Partial<Pick<Comment, 'body' | 'edited_at' | 'liked' | 'like_count' | 'reply_count'>> & {
  readonly [state in 'resolved_at' | 'resolved_by' | 'assignee']?: Comment[state] | undefined;
};

/** Returns a comment with changes; undefined removes a property. */
function withChange<C extends Comment>(comment: C, change: Change): C {
  const { resolved_at, resolved_by, assignee, ...rest } = { ...comment, ...change };
  // A property that is absent must not be undefined, which the type of the spread does not tell.
  return {
    ...rest,
    ...(resolved_at === undefined ? {} : { resolved_at }),
    ...(resolved_by === undefined ? {} : { resolved_by }),
    ...(assignee === undefined ? {} : { assignee }),
  } as C;
}

/** Returns the thread with a comment or reply changed. */
export function changedInThread(thread: Thread, id: string, change: Change): Thread {
  return changeItems(thread, (roots) =>
    roots.map((root) => {
      if (root.id === id) return withChange(root, change);
      if (!root.replies.some((reply) => reply.id === id)) return root;
      return {
        ...root,
        replies: root.replies.map((reply) => (reply.id === id ? withChange(reply, change) : reply)),
      };
    }),
  );
}

/** Returns the replies with one of them changed. */
export function changedInReplies(replies: Replies, id: string, change: Change): Replies {
  return changeItems(replies, (items) =>
    items.map((reply) => (reply.id === id ? withChange(reply, change) : reply)),
  );
}

/** Returns the thread without a comment and its replies, or without a reply. */
export function withoutInThread(thread: Thread, comment: Comment): Thread {
  return changeItems(thread, (roots) =>
    comment.parent_id === null
      ? roots.filter((root) => root.id !== comment.id)
      : roots.map((root) =>
          root.id === comment.parent_id
            ? {
                ...root,
                reply_count: Math.max(0, root.reply_count - 1),
                replies: root.replies.filter((reply) => reply.id !== comment.id),
              }
            : root,
        ),
  );
}

/** Returns the replies without one of them. */
export function withoutInReplies(replies: Replies, id: string): Replies {
  return changeItems(replies, (items) => items.filter((reply) => reply.id !== id));
}

/** The displayed replies of a root, oldest first, with the gap that is not loaded. */
export interface ShownReplies {
  /** The first replies, which came with the root. */
  readonly first: readonly Comment[];
  /** The number of replies between the first and the latest. */
  readonly between: number;
  /** The latest loaded replies. */
  readonly latest: readonly Comment[];
}

/** `read`: replies loaded later, newest first. */
export function shownReplies(root: CommentRoot, read: readonly Comment[]): ShownReplies {
  const first = new Set(root.replies.map((reply) => reply.id));
  const latest = read.filter((reply) => !first.has(reply.id)).reverse();
  return {
    first: root.replies,
    between: Math.max(0, root.reply_count - root.replies.length - latest.length),
    latest,
  };
}
