import { guestLists } from '#lib/guests/queries.ts';
import type { Service } from '#lib/service.ts';
import { type EventListening, listenEvents } from './events.svelte.ts';
import { listsKey, unreadKey } from './queries.ts';

/** Listens to the events of the account and updates the cache. */
export function listenLive({ queries }: Service, address = '/api/v1/events'): EventListening {
  return listenEvents(address, {
    handlers: {
      notification(data) {
        const count = Reflect.get(data, 'unread_count');
        if (typeof count !== 'number') return;
        // A response in flight is older than this event.
        void queries.cancelQueries({ queryKey: unreadKey });
        queries.setQueryData<number>(unreadKey, count);
        void queries.invalidateQueries({ queryKey: listsKey });
        // Guests may have left something at a link whose lists are open.
        for (const queryKey of guestLists()) void queries.invalidateQueries({ queryKey });
      },
    },
    // The count reveals whether the session has ended.
    onrefused: () => void queries.invalidateQueries({ queryKey: unreadKey }),
  });
}
