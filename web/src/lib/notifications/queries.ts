import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

type Page = AnswerOf<Operations['listNotifications']>;

/** What was read of the list of notifications. */
export type NotificationPages = InfiniteData<Page, string>;

export const unreadKey = ['notifications', 'unread'];
export const listsKey = ['notifications', 'list'];

const rowsAtOnce = 30;

/** How many notifications nobody has opened yet. The live stream writes it; see `live.svelte.ts`. */
export function unreadQuery({ client }: Service) {
  return queryOptions({
    queryKey: unreadKey,
    staleTime: 10_000,
    queryFn: async ({ signal }) => (await client.call('getUnreadCount', { signal })).count,
  });
}

/** Notifications, newest first. What happens meanwhile lets it be read anew, so each visit asks. */
export function notificationsQuery({ client }: Service, unreadOnly: boolean) {
  return infiniteQueryOptions({
    queryKey: [...listsKey, unreadOnly ? 'unread' : 'all'],
    staleTime: 0,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listNotifications', {
        query: { ...pageParams(pageParam, rowsAtOnce), ...(unreadOnly ? { unread: true } : {}) },
        signal,
      }),
  });
}

/** What the account is told of, and how. Never from memory: a mail's own address changes it too. */
export function notificationPreferencesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'notification-preferences'],
    staleTime: 0,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => client.call('getNotificationPreferences', { signal }),
  });
}

/** Whether the account is told of comments on a post. */
export function watchQuery({ client }: Service, postId: string) {
  return queryOptions({
    queryKey: ['watch', postId],
    queryFn: async ({ signal }) =>
      (await client.call('getWatch', { params: { id: postId }, signal })).watching,
  });
}
