import type { QueryKey } from '@tanstack/svelte-query';
import type { Comment } from '@vitrine/contract/comments';
import type { PostAuthor } from '@vitrine/contract/identity';
import { createContext } from 'svelte';
import { createConversation } from '#lib/comments/conversation.ts';
import { guestLists } from '#lib/guests/queries.ts';
import { type EventListening, listenEvents } from '#lib/notifications/events.svelte.ts';
import type { Service } from '#lib/service.ts';

/** The live state of a post: who else looks at it, and what was new last, for screen readers. */
export interface LivePost {
  readonly postId: string | undefined;
  /** Whether the stream is open. While it is not, changes are missed. */
  readonly connected: boolean;
  readonly people: readonly PostAuthor[];
  readonly announcement: string;
}

export const [getLivePost, setLivePost] = createContext<LivePost>();

/** Milliseconds without news after which lists are read again, so that many comments at once cost one request. */
const quietMs = 200;

/**
 * Listens to the comments, resolutions, reviews and readers of the post that `post` returns, and updates its lists. Called
 * while a component is created; ends with it.
 */
export function listenToPost(
  service: Service,
  post: () => string | undefined,
  ownRef: () => number | undefined,
): LivePost {
  const { queries } = service;
  let people = $state.raw<readonly PostAuthor[]>([]);
  let announcement = $state('');
  let listening = $state.raw<EventListening>();

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
    let stale: readonly QueryKey[] = [];
    let isFirst = true;
    const begun = Date.now();

    const lists = [['comments', postId], ['replies']];
    const reviews = [['reviews']];

    /** Reads the counts of the post again, and what else is out of date. */
    function readAgain(others: readonly QueryKey[] = []) {
      stale = [...stale, ...others.filter((key) => !stale.includes(key))];
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        for (const queryKey of [['post', postId], ...stale]) void queries.invalidateQueries({ queryKey });
        stale = [];
      }, quietMs);
    }

    function receive(comment: Comment | { readonly deleted: true }, words: (about: Comment) => string) {
      if ('deleted' in comment) {
        readAgain(lists);
        return;
      }
      if (comment.parent_id === null) {
        conversation.receive(comment);
        readAgain();
      } else readAgain(lists);
      announcement = words(comment);
    }

    const events = listenEvents(`/api/v1/events?post=${postId}`, {
      handlers: {
        // The types are those of the contract.
        comment: (data) =>
          receive(data as Comment | { readonly deleted: true }, ({ author, guest, edited_at }) =>
            (author !== undefined && author.ref === ownRef()) || edited_at !== null
              ? ''
              : `New comment by ${author?.display_name ?? guest?.name ?? 'someone'}`,
          ),
        resolved: (data) =>
          receive(data as Comment, ({ resolved_at, assignee }) => {
            const state = resolved_at === undefined ? 'A comment is open' : 'A comment is resolved';
            return assignee === undefined ? state : `${state}, and assigned to ${assignee.display_name}`;
          }),
        decision: () => readAgain(reviews),
        feedback: (data) => readAgain(guestLists((data as { readonly link_id: string }).link_id)),
        whiteboard(data) {
          const { id } = data as { readonly id: string };
          void queries.invalidateQueries({ queryKey: ['whiteboard', id] });
          void queries.invalidateQueries({ queryKey: ['whiteboards', postId] });
        },
        presence(data) {
          const { viewers } = data as { readonly viewers: readonly PostAuthor[] };
          people = viewers.filter(({ ref }) => ref !== ownRef());
        },
      },
      onopen() {
        if (!isFirst) void queries.invalidateQueries({ queryKey: ['whiteboard'] });
        if (!isFirst || hasListFrom(postId, begun)) readAgain([...lists, ...reviews]);
        isFirst = false;
      },
    });
    listening = events;
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
    get connected() {
      return listening?.connected ?? false;
    },
    get people() {
      return people;
    },
    get announcement() {
      return announcement;
    },
  };
}
