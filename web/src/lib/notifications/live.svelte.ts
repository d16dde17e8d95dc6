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
      },
    },
    // The count reveals whether the session has ended.
    onrefused: () => void queries.invalidateQueries({ queryKey: unreadKey }),
  });
}
