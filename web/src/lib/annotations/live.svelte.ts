import type { Comment } from '@vitrine/contract/comments';
import type { PostAuthor } from '@vitrine/contract/identity';
import { createContext } from 'svelte';
import { createConversation } from '#lib/comments/conversation.ts';
import { listenEvents } from '#lib/notifications/events.svelte.ts';
import type { Service } from '#lib/service.ts';

/** The live state of a post: who else looks at it, and what was new last, for screen readers. */
export interface LivePost {
  readonly postId: string | undefined;
  readonly people: readonly PostAuthor[];
  readonly announcement: string;
}

export const [getLivePost, setLivePost] = createContext<LivePost>();

/** Milliseconds without news after which lists are read again, so that many comments at once cost one request. */
const quietMs = 200;

/**
 * Listens to the comments, resolutions and readers of the post that `post` returns, and updates its lists. Called while
 * a component is created; ends with it.
 */
export function listenToPost(
  service: Service,
  post: () => string | undefined,
  ownRef: () => number | undefined,
): LivePost {
  const { queries } = service;
  let people = $state.raw<readonly PostAuthor[]>([]);
  let announcement = $state('');

  /** Returns whether a list was read before this time, so that later events are missing in it. */
  const hasListFrom = (postId: string, time: number) =>
    queries
      .getQueryCache()
      .findAll({ queryKey: ['comments', postId] })
      .some(({ state }) => state.data !== undefined && state.dataUpdatedAt < time);

  $effect(() => {
    const postId = post();
    if (postId === undefined) return;
    const conversation = createConversation(service, postId);
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let isStale = false;
    let isFirst = true;
    const begun = Date.now();

    /** Reads the counts of the post again, and its lists if what is new could not be put into them. */
    function readAgain(lists: boolean) {
      isStale ||= lists;
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const keys = isStale ? [['comments', postId], ['replies'], ['post', postId]] : [['post', postId]];
        isStale = false;
        for (const queryKey of keys) void queries.invalidateQueries({ queryKey });
      }, quietMs);
    }

    function receive(comment: Comment | { readonly deleted: true }, words: (about: Comment) => string) {
      if ('deleted' in comment) {
        readAgain(true);
        return;
      }
      if (comment.parent_id === null) conversation.receive(comment);
      readAgain(comment.parent_id !== null);
      announcement = words(comment);
    }

    const events = listenEvents(`/api/v1/events?post=${postId}`, {
      handlers: {
        // The types are those of the contract.
        comment: (data) =>
          receive(data as Comment | { readonly deleted: true }, ({ author, edited_at }) =>
            author?.ref === ownRef() || edited_at !== null
              ? ''
              : `New comment by ${author?.display_name ?? 'someone'}`,
          ),
        resolved: (data) =>
          receive(data as Comment, ({ resolved_at, assignee }) => {
            const state = resolved_at === undefined ? 'A comment is open' : 'A comment is resolved';
            return assignee === undefined ? state : `${state}, and assigned to ${assignee.display_name}`;
          }),
        presence(data) {
          const { viewers } = data as { readonly viewers: readonly PostAuthor[] };
          people = viewers.filter(({ ref }) => ref !== ownRef());
        },
      },
      onopen() {
        if (!isFirst || hasListFrom(postId, begun)) readAgain(true);
        isFirst = false;
      },
    });
    return () => {
      events.close();
      clearTimeout(waiting);
      people = [];
    };
  });

  return {
    get postId() {
      return post();
    },
    get people() {
      return people;
    },
    get announcement() {
      return announcement;
    },
  };
}
