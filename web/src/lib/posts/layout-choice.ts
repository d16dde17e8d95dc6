import type { SessionUser } from '@vitrine/contract/identity';
import { refreshUser, viewerIn } from '#lib/identity/visitor-state.ts';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';
import { invalidate } from '$app/navigation';
import { layoutKey } from './layouts.ts';

type Choice = SessionUser['default_views']['layout'];

/** The layouts to choose from. Empty depends on the device. */
export const layoutChoices: readonly { readonly value: Choice; readonly label: string }[] = [
  { value: '', label: 'Depends on the device' },
  { value: 'grid', label: 'Grid' },
  { value: 'masonry', label: 'Masonry' },
  { value: 'thumbnail', label: 'Thumbnails' },
  { value: 'list', label: 'List' },
  { value: 'feed', label: 'One below the other' },
];

/** Keeps a visitor's layout in the browser (PREFERENCE-9). One that stores nothing shows it until the page is closed. */
async function keepInBrowser({ queries }: Service, layout: Choice): Promise<void> {
  try {
    localStorage.setItem(layoutKey, layout);
  } catch {
    // The page shows it anyway.
  }
  queries.setQueryData<object>(['visitor-state'], (before) =>
    before === undefined ? undefined : { ...before, browserLayout: layout },
  );
  await invalidate('vitrine:visitor-state');
}

async function storeLayout(service: Service, layout: string): Promise<void> {
  const views = viewerIn(service)?.default_views;
  const value = layoutChoices.find((choice) => choice.value === layout)?.value;
  if (value === undefined) return;
  if (views === undefined) return keepInBrowser(service, value);
  await service.client.call('updatePreferences', { body: { default_views: { ...views, layout: value } } });
  service.queries.removeQueries({ queryKey: ['account', 'preferences'] });
  await refreshUser(service);
}

/**
 * Stores the chosen layout of all lists as a preference, or in the browser of a visitor (PREFERENCE-9), and shows it. A choice during a request is stored after
 * it.
 */
export function createLayoutChoice(service: Service) {
  const saving = createServiceMutation(service);
  let next: string | undefined;
  return {
    get problem() {
      return saving.problem;
    },
    async choose(layout: string): Promise<void> {
      next = layout;
      while (next !== undefined && !saving.busy) {
        const chosen = next;
        next = undefined;
        await saving.run(() => storeLayout(service, chosen));
      }
    },
  };
}
