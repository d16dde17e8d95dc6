import { createService } from '#lib/service.ts';
import { invalidate } from '$app/navigation';

export const ssr = false;
export const prerender = false;

/** One service for the lifetime of the page; it depends on nothing, so it is never re-created. */
export const load = () => {
  const service = createService(() => {
    service.queries.clear();
    void invalidate('vitrine:visitor-state');
  });
  return { service };
};
