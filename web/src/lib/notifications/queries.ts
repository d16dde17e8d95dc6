import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { ShownAsset } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import { byCursor, pageParams } from '#lib/paging.ts';
import { coverAssetOf } from '#lib/posts/cover.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

type Page = AnswerOf<Operations['listNotifications']>;

/** The loaded pages of notifications. */
export type NotificationPages = InfiniteData<Page, string>;

export const unreadKey = ['notifications', 'unread'];
export const listsKey = ['notifications', 'list'];

const rowsAtOnce = 30;

/** Reads the number of unread notifications. The live stream updates it; see `live.svelte.ts`. */
export function unreadQuery({ client }: Service) {
  return queryOptions({
    queryKey: unreadKey,
    staleTime: 10_000,
    queryFn: async ({ signal }) => (await client.call('getUnreadCount', { signal })).count,
  });
}

/** Lists notifications, newest first. Events invalidate it, and each visit reloads it. */
export function notificationsQuery({ client }: Service, unreadOnly: boolean) {
  return infiniteQueryOptions({
    queryKey: [...listsKey, unreadOnly ? 'unread' : 'all'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listNotifications', {
        query: { ...pageParams(pageParam, rowsAtOnce), ...(unreadOnly ? { unread: true } : {}) },
        signal,
      }),
  });
}

/**
 * Reads the cover of the post of a notification; null if the caller may not see it. If there is a review, reads the post
 * through it, because reviewers cannot read a draft anywhere else (REVIEW-3).
 */
export function coverQuery({ client }: Service, postId: string, reviewId: string | undefined) {
  return queryOptions<ShownAsset | null>({
    queryKey:
      reviewId === undefined ? ['notified-cover', 'post', postId] : ['notified-cover', 'review', reviewId],
    staleTime: 300_000,
    queryFn: async ({ signal }) => {
      try {
        const post =
          reviewId === undefined
            ? await client.call('getPost', { params: { id: postId }, signal })
            : (await client.call('getReview', { params: { id: reviewId }, signal })).post;
        return coverAssetOf(post) ?? null;
      } catch (error) {
        if (error instanceof CallError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** Reads the notification preferences. Never cached, because changing the mail address affects them too. */
export function notificationPreferencesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'notification-preferences'],
    staleTime: readAtEveryVisit,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => client.call('getNotificationPreferences', { signal }),
  });
}

/** Reads whether the account is notified of comments on a post. */
export function watchQuery({ client }: Service, postId: string) {
  return queryOptions({
    queryKey: ['watch', postId],
    queryFn: async ({ signal }) =>
      (await client.call('getWatch', { params: { id: postId }, signal })).watching,
  });
}
