import type { CommentRoot } from '@vitrine/contract/comments';
import type { LinkComment } from '@vitrine/contract/guests';

/** Returns what guests wrote about places in a file, in the form of the thread of a post. A link reveals no post. */
export function guestAnnotations(comments: readonly LinkComment[], assetId: string): CommentRoot[] {
  return comments.flatMap(({ id, guest, body, annotation, created_at }) =>
    annotation?.asset_id === assetId
      ? [
          {
            id,
            post_id: '',
            parent_id: null,
            body,
            created_at,
            edited_at: null,
            guest,
            like_count: 0,
            liked: false,
            reply_count: 0,
            annotation,
            replies: [],
          },
        ]
      : [],
  );
}
