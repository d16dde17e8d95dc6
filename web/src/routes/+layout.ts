import { createService } from '#lib/service.ts';
import { invalidate } from '$app/navigation';

export const ssr = false;
export const prerender = false;

/** One service for as long as the page is open; it depends on nothing, so it is never made again. */
export const load = () => {
  const service = createService(() => {
    service.queries.clear();
    void invalidate('vitrine:visitor-state');
  });
  return { service };
};
