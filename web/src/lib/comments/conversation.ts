import type { Comment } from '@vitrine/contract/comments';
import type { Post } from '@vitrine/contract/posts';
import { changePost } from '#lib/posts/queries.ts';
import type { Service } from '#lib/service.ts';
import {
  changedInReplies,
  changedInThread,
  type Replies,
  type Thread,
  withoutInReplies,
  withoutInThread,
  withReply,
  withReplyBelow,
  withRoot,
} from './thread.ts';

/** The actions on comments of a post. Each rejects with CallError and then leaves the displayed state correct. */
export interface Conversation {
  write(body: string, parentId: string | null): Promise<void>;
  /** Shows the new text immediately and reverts it on an error. */
  edit(comment: Comment, body: string): Promise<void>;
  remove(comment: Comment): Promise<void>;
  putLike(comment: Comment, state: { liked: boolean; like_count: number }): void;
  sendLike(comment: Comment, liked: boolean): Promise<{ liked: boolean; like_count: number }>;
}

export function createConversation({ client, queries }: Service, postId: string): Conversation {
  const changeThread = (change: (thread: Thread) => Thread) =>
    queries.setQueryData<Thread>(['comments', postId], (thread) => thread && change(thread));
  const changeReplies = (rootId: string | null, change: (replies: Replies) => Replies) => {
    if (rootId !== null)
      queries.setQueryData<Replies>(['replies', rootId], (replies) => replies && change(replies));
  };
  const put = (comment: Comment, change: Parameters<typeof changedInThread>[2]) => {
    changeThread((thread) => changedInThread(thread, comment.id, change));
    changeReplies(comment.parent_id, (replies) => changedInReplies(replies, comment.id, change));
  };
  const count = (by: number) =>
    changePost(
      queries,
      postId,
      (post: Post): Post => ({ ...post, comment_count: Math.max(0, post.comment_count + by) }),
    );
  // Others comment too, so the count finally comes from the service.
  const refreshCount = () => void queries.invalidateQueries({ queryKey: ['post', postId] });

  return {
    async write(body, parentId) {
      const comment = await client.call('createComment', {
        params: { id: postId },
        body: { body, ...(parentId === null ? {} : { parent_id: parentId }) },
      });
      if (comment.parent_id === null) changeThread((thread) => withRoot(thread, comment));
      else {
        changeThread((thread) => withReplyBelow(thread, comment));
        changeReplies(comment.parent_id, (replies) => withReply(replies, comment));
      }
      count(1);
      refreshCount();
      // Commenters watch the post, unless they stopped watching before.
      void queries.invalidateQueries({ queryKey: ['watch', postId] });
    },
    async edit(comment, body) {
      const { body: before, edited_at } = comment;
      put(comment, { body });
      try {
        const saved = await client.call('updateComment', { params: { id: comment.id }, body: { body } });
        put(comment, { body: saved.body, edited_at: saved.edited_at });
      } catch (error) {
        put(comment, { body: before, edited_at });
        throw error;
      }
    },
    async remove(comment) {
      await client.call('deleteComment', { params: { id: comment.id } });
      changeThread((thread) => withoutInThread(thread, comment));
      changeReplies(comment.parent_id, (replies) => withoutInReplies(replies, comment.id));
      count(-1 - comment.reply_count);
      refreshCount();
    },
    putLike: put,
    sendLike: (comment, liked) =>
      client.call(liked ? 'likeComment' : 'unlikeComment', { params: { id: comment.id } }),
  };
}
