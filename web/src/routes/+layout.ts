import { createService } from '#lib/service.ts';
import { invalidate } from '$app/navigation';
import { navigating } from '$app/state';

export const ssr = false;
export const prerender = false;

/** One service for the lifetime of the page; it depends on nothing, so it is never re-created. */
export const load = () => {
  const service = createService(() => {
    service.queries.clear();
    const reload = () => void invalidate('vitrine:visitor-state');
    // The `load` of a page that is being opened leads to the sign-in page itself, which then knows the wanted address.
    if (navigating.to === null) reload();
    else navigating.complete.then(reload, reload);
  });
  return { service };
};
