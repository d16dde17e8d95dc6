import { watchCaller } from '#lib/app/account.ts';
import { viewerIn } from '#lib/identity/visitor-state.ts';
import { createService } from '#lib/service.ts';
import { invalidate } from '$app/navigation';
import { navigating } from '$app/state';

export const ssr = false;
export const prerender = false;

/** One service for the lifetime of the page; it depends on nothing, so it is never re-created. */
export const load = () => {
  const readCaller = () => {
    service.queries.clear();
    const reload = () => void invalidate('vitrine:visitor-state');
    // The `load` of a page that is being opened leads to the sign-in page itself, which then knows the wanted address.
    if (navigating.to === null) reload();
    else navigating.complete.then(reload, reload);
  };
  const service = createService(readCaller);
  watchCaller(() => viewerIn(service)?.ref, readCaller);
  return { service };
};
