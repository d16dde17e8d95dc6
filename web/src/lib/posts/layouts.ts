import { page } from '$app/state';
import type { Layout } from './sheet.ts';

/** Where the browser of a visitor has their layout. */
export const layoutKey = 'vitrine:layout';

const layouts: readonly Layout[] = ['grid', 'masonry', 'thumbnail', 'list', 'feed'];

/** Returns the layout that a visitor chose in this browser; empty if none (PREFERENCE-9). */
export function browserLayout(): Layout | '' {
  try {
    const chosen = localStorage.getItem(layoutKey);
    return layouts.find((layout) => layout === chosen) ?? '';
  } catch {
    return '';
  }
}

/** Returns the layout that the reader chose; an empty one depends on the page and the device. */
export function chosenLayout(): Layout | '' {
  const { user, browserLayout = '' } = page.data.visitorState ?? {};
  return user == null ? browserLayout : user.default_views.layout;
}

/** Returns the chosen layout of lists, otherwise that of the device: a column for fingers (PREFERENCE-8). */
export function shownLayout(): Layout {
  const chosen = chosenLayout();
  if (chosen !== '') return chosen;
  return matchMedia('(pointer: coarse)').matches ? 'feed' : 'grid';
}
