import type { Comment, CommentRoot } from '@vitrine/contract/comments';

/** How many pages of comments, and replies of how many of them, are looked through for one. */
const mostPages = 5;
const mostBranches = 10;

/** Reading a post's comments. */
export interface Reading {
  /** The comments read so far, each with its first replies. */
  roots(): readonly CommentRoot[];
  readAnew(): Promise<unknown>;
  /** Reads the next page; false when there is none. */
  readOn(): Promise<boolean>;
  /** Reads the latest replies to a comment, so that they are shown. */
  readReplies(rootId: string): Promise<readonly Comment[]>;
}

function isAmong(roots: readonly CommentRoot[], id: string): boolean {
  return roots.some((root) => root.id === id || root.replies.some((reply) => reply.id === id));
}

/** Reads on until a comment or a reply is there; false when it is not, as far as one looks. */
export async function findComment(reading: Reading, id: string): Promise<boolean> {
  if (isAmong(reading.roots(), id)) return true;
  // It may have been written after the others were read.
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

/** The comment an address leads to, by the part behind its `#`; undefined when it leads to none. */
export function commentIn(hash: string): string | undefined {
  return /^#comment-([0-9a-f-]{36})$/i.exec(hash)?.[1]?.toLowerCase();
}
