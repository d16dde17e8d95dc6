import type { Preferences } from '@vitrine/contract/preferences';

interface Choice<V extends string> {
  readonly value: V;
  readonly label: string;
}

type Views = Preferences['default_views'];

/** PREFERENCE-3: without a stored theme the app decides; `system` follows the device. */
export const themeChoices: readonly Choice<Preferences['theme']>[] = [
  { value: '', label: 'Library default' },
  { value: 'system', label: 'Same as the device' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export const feedChoices: readonly Choice<Views['feed']>[] = [
  { value: '', label: 'Library default' },
  { value: 'latest', label: 'Latest' },
  { value: 'trending', label: 'Trending' },
  { value: 'following', label: 'People I follow' },
  { value: 'team', label: 'My teams' },
];

export const sortChoices: readonly Choice<Views['sort']>[] = [
  { value: '', label: 'Library default' },
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
];
