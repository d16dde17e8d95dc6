import type { Visibility } from '@vitrine/contract/values';
import type { InWords } from '../posts/visibility.ts';

/** Who may open a collection, in words (choices, collections: the words of posts). */
export const openedBy: Readonly<Record<Visibility, InWords>> = {
  'org-only': { label: 'Everyone here', explanation: 'Anyone who signs in to this library.' },
  public: {
    label: 'Public',
    explanation: 'Anyone who signs in, and visitors without an account while public mode is on.',
  },
  followers: { label: 'Followers', explanation: 'People who follow its owner.' },
  'explicit-share': { label: 'Named people', explanation: 'Only the people it was shared with.' },
  private: { label: 'Only the owner', explanation: 'Nobody else opens it.' },
};

/** What a collection says wherever it is told that others see less of it. */
export const eachSeesTheirs = 'Everybody sees only those of its posts that they may see anyway.';

/** How many posts there are; counting stops at `most`. */
export function postsInWords(count: number, most: number): string {
  const shown = new Intl.NumberFormat('en').format(count);
  if (count >= most) return `${shown}+ posts`;
  return count === 1 ? '1 post' : `${shown} posts`;
}
