import { page } from '$app/state';
import type { Layout } from './sheet.ts';

/** Returns the layout that the reader chose; an empty one depends on the device. Undefined for visitors. */
export function chosenLayout(): Layout | '' | undefined {
  return page.data.visitorState?.user?.default_views.layout;
}

/** Returns the chosen layout of lists of posts, otherwise that of the device: a column for fingers (PREFERENCE-8). */
export function shownLayout(): Layout {
  const chosen = chosenLayout() ?? '';
  if (chosen !== '') return chosen;
  return matchMedia('(pointer: coarse)').matches ? 'feed' : 'grid';
}
