import type { Whiteboard } from '@vitrine/contract/whiteboards';

/** Width divided by height of every board: it fits phones held either way. */
export const boardRatio = 4 / 3;

/** Returns the title of a board, or what it is called without one. */
export function boardTitle({ title }: Pick<Whiteboard, 'title'>): string {
  return title.trim() === '' ? 'Untitled whiteboard' : title;
}

/** Returns the address of the page of a board; without an id, that of a new one. */
export function boardPage(postId: string, id = 'new'): string {
  return `/posts/${encodeURIComponent(postId)}/whiteboards/${encodeURIComponent(id)}`;
}
