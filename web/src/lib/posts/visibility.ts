import type { Visibility } from '@vitrine/contract/values';

/** A choice as people read it. */
export interface InWords {
  readonly label: string;
  readonly explanation: string;
}

/** Who may read a post, in words (choices, posts). */
export const visibilityWords: Readonly<Record<Visibility, InWords>> = {
  'org-only': {
    label: 'Everyone here',
    explanation: 'Anyone who signs in to this library.',
  },
  public: {
    label: 'Public',
    explanation: 'Anyone who signs in, and visitors without an account while public mode is on.',
  },
  followers: {
    label: 'Followers',
    explanation: 'People who follow the author.',
  },
  'explicit-share': {
    label: 'Named people',
    explanation: 'Only the people it was shared with.',
  },
  private: {
    label: 'Only the author',
    explanation: 'Nobody else sees it.',
  },
};

/** What can be chosen when publishing. Naming people comes after publishing, so it is not among them. */
export const visibilityChoices: readonly Visibility[] = ['org-only', 'public', 'followers', 'private'];

/** What can be chosen for a post that is there already. */
export const everyVisibility: readonly Visibility[] = [
  'org-only',
  'public',
  'followers',
  'explicit-share',
  'private',
];
