import type { SessionUser } from '@vitrine/contract/identity';
import { page } from '$app/state';
import type { Layout } from './sheet.ts';

type Chosen = SessionUser['default_views']['layout'];

/** The layouts to choose from. Empty depends on the device. */
export const layoutChoices: readonly { readonly value: Chosen; readonly label: string }[] = [
  { value: '', label: 'Depends on the device' },
  { value: 'grid', label: 'Grid' },
  { value: 'masonry', label: 'Masonry' },
  { value: 'thumbnail', label: 'Thumbnails' },
  { value: 'list', label: 'List' },
  { value: 'feed', label: 'One below the other' },
];

/** Returns the layout that the reader chose, otherwise that of the device: a column for fingers (PREFERENCE-8). */
export function shownLayout(): Layout {
  const chosen = page.data.visitorState?.user?.default_views.layout ?? '';
  if (chosen !== '') return chosen;
  return matchMedia('(pointer: coarse)').matches ? 'feed' : 'grid';
}
