import { page } from '$app/state';
import type { Layout } from './sheet.ts';

/** Returns the layout that the reader chose, otherwise that of the device: a column for fingers (PREFERENCE-8). */
export function shownLayout(): Layout {
  const chosen = page.data.visitorState?.user?.default_views.layout ?? '';
  if (chosen !== '') return chosen;
  return matchMedia('(pointer: coarse)').matches ? 'feed' : 'grid';
}
