import type { Preferences } from '@vitrine/contract/preferences';

interface Choice<V extends string> {
  readonly value: V;
  readonly label: string;
}

type Views = Preferences['default_views'];

/** PREFERENCE-3: no stored theme leaves it to the app, `system` follows the device. */
export const themeChoices: readonly Choice<Preferences['theme']>[] = [
  { value: '', label: 'As the library has it' },
  { value: 'system', label: 'As the device has it' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export const feedChoices: readonly Choice<Views['feed']>[] = [
  { value: '', label: 'As the library has it' },
  { value: 'latest', label: 'Latest' },
  { value: 'trending', label: 'Trending' },
  { value: 'following', label: 'People I follow' },
  { value: 'team', label: 'My teams' },
];

export const layoutChoices: readonly Choice<Views['layout']>[] = [
  { value: '', label: 'As the device suits' },
  { value: 'grid', label: 'Grid' },
  { value: 'masonry', label: 'Masonry' },
  { value: 'thumbnail', label: 'Thumbnails' },
  { value: 'list', label: 'List' },
  { value: 'feed', label: 'One below the other' },
];

export const sortChoices: readonly Choice<Views['sort']>[] = [
  { value: '', label: 'As the library has it' },
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
];
