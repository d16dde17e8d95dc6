import type { Annotation } from '@vitrine/contract/annotations';
import type { Comment, CommentRoot } from '@vitrine/contract/comments';
import { inFileOrder } from './anchor.ts';

/** A comment about a place. */
export type Annotated<C extends Comment = Comment> = C & { readonly annotation: Annotation };

/** An annotation of the file in the viewer, with its number in the list and on the picture. */
export interface Mark {
  readonly number: number;
  readonly comment: Annotated<CommentRoot>;
  /** Whether the file has been replaced since. */
  readonly isEarlier: boolean;
}

/** Returns whether a comment is about a place. */
export function isAnnotated<C extends Comment>(comment: C): comment is Annotated<C> {
  return comment.annotation !== undefined;
}

/** Numbers annotations as the file is read: by time or page, then from the oldest to the newest. */
export function marksOf(comments: readonly CommentRoot[], version: number | undefined): Mark[] {
  return comments
    .filter(isAnnotated)
    .sort(
      (a, b) =>
        inFileOrder(a.annotation.anchor, b.annotation.anchor) ||
        Date.parse(a.created_at) - Date.parse(b.created_at),
    )
    .map((comment, index) => ({
      number: index + 1,
      comment,
      isEarlier: version !== undefined && comment.annotation.version < version,
    }));
}
