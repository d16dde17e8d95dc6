import type { Comment, CommentRoot } from '@vitrine/contract/comments';

/** The maximum number of pages of comments, and of comments whose replies are read, to find one. */
const mostPages = 5;
const mostBranches = 10;

/** Access to the comments of a post. */
export interface Reading {
  /** The loaded comments, each with its first replies. */
  roots(): readonly CommentRoot[];
  readAnew(): Promise<unknown>;
  /** Loads the next page; false if there is none. */
  readOn(): Promise<boolean>;
  /** Loads the latest replies to a comment, so that they are shown. */
  readReplies(rootId: string): Promise<readonly Comment[]>;
}

function isAmong(roots: readonly CommentRoot[], id: string): boolean {
  return roots.some((root) => root.id === id || root.replies.some((reply) => reply.id === id));
}

/** Loads comments until a comment or a reply is found; false if it is not found within the limits. */
export async function findComment(reading: Reading, id: string): Promise<boolean> {
  if (isAmong(reading.roots(), id)) return true;
  // It may have been written after the others were loaded.
  await reading.readAnew();
  const looked = new Set<string>();
  for (let page = 0; page < mostPages; page += 1) {
    if (isAmong(reading.roots(), id)) return true;
    for (const root of reading.roots()) {
      if (looked.has(root.id) || root.reply_count <= root.replies.length) continue;
      if (looked.size >= mostBranches) break;
      looked.add(root.id);
      const replies = await reading.readReplies(root.id);
      if (replies.some((reply) => reply.id === id)) return true;
    }
    if (!(await reading.readOn())) return isAmong(reading.roots(), id);
  }
  return isAmong(reading.roots(), id);
}

/** Returns the comment id in the hash of an address; undefined if there is none. */
export function commentIn(hash: string): string | undefined {
  return /^#comment-([0-9a-f-]{36})$/i.exec(hash)?.[1]?.toLowerCase();
}
