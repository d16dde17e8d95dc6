import type { Anchor } from '@vitrine/contract/annotations';
import type { Comment } from '@vitrine/contract/comments';
import type { Post } from '@vitrine/contract/posts';
import type { Stroke } from '@vitrine/contract/strokes';
import { changePost } from '#lib/posts/queries.ts';
import type { Service } from '#lib/service.ts';
import { filterOf, fits } from './filter.ts';
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

/** A file of the post, and the version of it that the reader sees; undefined while unknown. */
interface AnnotatedFile {
  readonly assetId: string;
  readonly version: number | undefined;
}

/** The actions on comments of a post. Each rejects with CallError and then leaves the displayed state correct. */
export interface Conversation {
  write(body: string, parentId: string | null): Promise<void>;
  /** Comments on a place in a file, with a text, a drawing or both. */
  annotate(
    file: AnnotatedFile,
    anchor: Anchor,
    what: { body?: string; strokes?: Stroke[] },
  ): Promise<Comment>;
  /** Shows a new or changed top-level comment in the lists that it belongs to. */
  receive(comment: Comment): void;
  /** Resolves or reopens a comment. */
  resolve(comment: Comment, isResolved: boolean): Promise<void>;
  /** Assigns a comment; null assigns it to nobody. */
  assign(comment: Comment, userRef: number | null): Promise<void>;
  /** Shows the new text immediately and reverts it on an error. */
  edit(comment: Comment, body: string): Promise<void>;
  remove(comment: Comment): Promise<void>;
  putLike(comment: Comment, state: { liked: boolean; like_count: number }): void;
  sendLike(comment: Comment, liked: boolean): Promise<{ liked: boolean; like_count: number }>;
}

export function createConversation({ client, queries }: Service, postId: string): Conversation {
  // The thread, the lists of the viewer, and both with filters.
  const changeThread = (change: (thread: Thread) => Thread) =>
    queries.setQueriesData<Thread>({ queryKey: ['comments', postId] }, (thread) => thread && change(thread));
  const addRoot = (comment: Comment) => {
    for (const { queryKey } of queries.getQueryCache().findAll({ queryKey: ['comments', postId] })) {
      if (!fits(comment, filterOf(queryKey))) continue;
      queries.setQueryData<Thread>(queryKey, (thread) => thread && withRoot(thread, comment));
    }
  };
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

  const putState = ({ id, parent_id, ...saved }: Comment) => {
    const { resolved_at, resolved_by, assignee } = saved;
    changeThread((thread) => changedInThread(thread, id, { resolved_at, resolved_by, assignee }));
    changeReplies(parent_id, (replies) =>
      changedInReplies(replies, id, { resolved_at, resolved_by, assignee }),
    );
  };

  return {
    async write(body, parentId) {
      const comment = await client.call('createComment', {
        params: { id: postId },
        body: { body, ...(parentId === null ? {} : { parent_id: parentId }) },
      });
      if (comment.parent_id === null) addRoot(comment);
      else {
        changeThread((thread) => withReplyBelow(thread, comment));
        changeReplies(comment.parent_id, (replies) => withReply(replies, comment));
      }
      count(1);
      refreshCount();
      // Commenters watch the post, unless they stopped watching before.
      void queries.invalidateQueries({ queryKey: ['watch', postId] });
    },
    async annotate({ assetId, version }, anchor, what) {
      const comment = await client.call('createAnnotation', {
        params: { id: postId },
        body: { asset_id: assetId, anchor, ...what, ...(version === undefined ? {} : { version }) },
      });
      addRoot(comment);
      // The count of comments leaves out annotations, which have their own.
      refreshCount();
      void queries.invalidateQueries({ queryKey: ['watch', postId] });
      return comment;
    },
    receive(comment) {
      const { body, edited_at, like_count, reply_count, resolved_at, resolved_by, assignee } = comment;
      const change = { body, edited_at, like_count, reply_count, resolved_at, resolved_by, assignee };
      for (const { queryKey } of queries.getQueryCache().findAll({ queryKey: ['comments', postId] })) {
        const belongs = fits(comment, filterOf(queryKey));
        queries.setQueryData<Thread>(queryKey, (thread) => {
          if (thread === undefined) return undefined;
          if (!belongs) return withoutInThread(thread, comment);
          return withRoot(changedInThread(thread, comment.id, change), comment);
        });
      }
    },
    async resolve(comment, isResolved) {
      const operation = isResolved ? 'resolveComment' : 'reopenComment';
      putState(await client.call(operation, { params: { id: comment.id } }));
      refreshCount();
    },
    async assign(comment, userRef) {
      const params = { id: comment.id };
      putState(await client.call('assignComment', { params, body: { user_ref: userRef } }));
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
      if (comment.annotation === undefined) count(-1 - comment.reply_count);
      refreshCount();
    },
    putLike: put,
    sendLike: (comment, liked) =>
      client.call(liked ? 'likeComment' : 'unlikeComment', { params: { id: comment.id } }),
  };
}
