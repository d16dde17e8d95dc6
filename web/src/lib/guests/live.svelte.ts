import { CallError } from '@vitrine/contract/client';
import type { LinkComment } from '@vitrine/contract/guests';
import { untrack } from 'svelte';
import { listenEvents } from '#lib/notifications/events.svelte.ts';
import type { GuestVisit } from './guest.svelte.ts';

/** The latest news of a link, for screen readers. */
export interface LiveLink {
  readonly announcement: string;
}

/** Returns whether the link no longer shows feedback, so that its page must be read again. */
function isOver(error: unknown): boolean {
  return error instanceof CallError && [401, 403, 404].includes(error.status);
}

/**
 * Listens to the feedback at a link and shows it in the visit. `onover` is called when the link no longer shows feedback.
 * Called while a component is created; ends with it.
 */
export function listenToLink(
  token: () => string,
  followed: () => GuestVisit | undefined,
  onover: () => void,
): LiveLink {
  let announcement = $state('');
  // The stream recognises a guest by the cookie with which it was opened.
  const guestId = $derived(followed()?.guest?.id);

  $effect(() => {
    const visit = followed();
    const address = `/api/v1/links/${encodeURIComponent(token())}/events`;
    void guestId;
    if (visit === undefined) return;
    const refresh = () => visit.refresh().catch((error: unknown) => isOver(error) && onover());
    const events = untrack(() =>
      listenEvents(address, {
        handlers: {
          // The types are those of the contract.
          comment(data) {
            const comment = data as LinkComment | { readonly id: string; readonly deleted: true };
            if ('deleted' in comment) {
              visit.remove(comment.id);
              return;
            }
            visit.receive(comment);
            if (!comment.own) announcement = `New comment by ${comment.guest.name}`;
          },
          guests(data) {
            const { guest } = data as { readonly guest?: { readonly name: string; readonly muted: boolean } };
            if (guest !== undefined) visit.become(guest);
            void refresh();
          },
        },
        // The stream lacks what happened before it was open.
        onopen: () => void refresh(),
        onrefused: () => void refresh(),
      }),
    );
    return () => events.close();
  });

  return {
    get announcement() {
      return announcement;
    },
  };
}
