import { CallError } from '@vitrine/contract/client';
import type { Notification } from '@vitrine/contract/notifications';
import type { Service } from '#lib/service.ts';
import { listsKey, type NotificationPages, unreadKey } from './queries.ts';

function markShown({ queries }: Service, which: (notification: Notification) => boolean): void {
  queries.setQueriesData<NotificationPages>({ queryKey: listsKey }, (list) =>
    list === undefined
      ? undefined
      : {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            items: page.items.map((notification) =>
              notification.read || !which(notification) ? notification : { ...notification, read: true },
            ),
          })),
        },
  );
}

/** Reloads everything from the service. */
async function readAnew({ queries }: Service): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['notifications'] });
}

/**
 * Marks a notification as read and shows this immediately. Navigation does not wait for it and does not fail with it.
 */
export async function markRead(service: Service, notification: Notification): Promise<void> {
  if (notification.read) return;
  const { client, queries } = service;
  markShown(service, ({ id }) => id === notification.id);
  queries.setQueryData<number>(unreadKey, (count) =>
    count === undefined ? undefined : Math.max(0, count - 1),
  );
  try {
    await client.call('readNotification', { params: { id: notification.id } });
  } catch (error) {
    // A notification that is no longer visible disappears from the list as well.
    if (!(error instanceof CallError) || error.status !== 404) void readAnew(service);
  }
}

/** Marks everything as read. Rejects with CallError and then shows the current state. */
export async function markAllRead(service: Service): Promise<void> {
  const { client, queries } = service;
  markShown(service, () => true);
  queries.setQueryData<number>(unreadKey, 0);
  try {
    await client.call('readAllNotifications');
  } finally {
    await readAnew(service);
  }
}
