import type { SessionUser } from '@vitrine/contract/identity';
import { refreshUser, showBrowserLayout, viewerIn } from '#lib/identity/visitor-state.ts';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';
import { keepBrowserLayout } from './layouts.ts';

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

async function storeLayout(service: Service, layout: string): Promise<void> {
  const views = viewerIn(service)?.default_views;
  const value = layoutChoices.find((choice) => choice.value === layout)?.value;
  if (value === undefined) return;
  if (views === undefined) {
    keepBrowserLayout(value);
    return showBrowserLayout(service, value);
  }
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
