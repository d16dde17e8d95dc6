import type { Sensitivity } from '@vitrine/contract/assets';
import type { Visibility } from '@vitrine/contract/values';

/** The audiences of posts, collections and files. Every page names them with these words; the icons are AudienceBadge's. */
export type Audience = 'self' | 'chosen' | 'followers' | 'team' | 'here' | 'everyone' | 'posts';

export interface InWords {
  readonly label: string;
  readonly explanation: string;
}

const labels: Readonly<Record<Audience, string>> = {
  self: 'Only you',
  chosen: 'People you choose',
  followers: 'Your followers',
  team: 'The team',
  here: 'Everyone here',
  everyone: 'Everyone, including visitors',
  posts: 'Follows its posts',
};

/** The label for people who are not the owner: "you" would be wrong. */
const labelsForOthers: Readonly<Partial<Record<Audience, string>>> = {
  self: 'Only its owner',
  chosen: 'Chosen people',
  followers: 'The owner’s followers',
};

/** The name of an audience, from the owner's point of view or from somebody else's. */
export function audienceLabel(audience: Audience, isOwner: boolean, teamName?: string): string {
  if (audience === 'team' && teamName !== undefined) return `Team ${teamName}`;
  return (isOwner ? undefined : labelsForOthers[audience]) ?? labels[audience];
}

/** The audience a post or a collection is published to. */
export const audienceOfVisibility: Readonly<Record<Visibility, Audience>> = {
  private: 'self',
  'explicit-share': 'chosen',
  followers: 'followers',
  'org-only': 'here',
  public: 'everyone',
};

/** The audience of a file of its own accord. */
export const audienceOfSensitivity: Readonly<Record<Sensitivity, Audience>> = {
  posts: 'posts',
  restricted: 'self',
  team: 'team',
  org: 'here',
  public: 'everyone',
};

const visitorsToo = 'Everyone who signs in, and visitors while public mode is on.';
const signedInText = 'Everyone who signs in to this library.';

function wordsOf(explanations: Readonly<Record<Visibility, string>>): Readonly<Record<Visibility, InWords>> {
  const of = (visibility: Visibility): InWords => ({
    label: labels[audienceOfVisibility[visibility]],
    explanation: explanations[visibility],
  });
  return {
    'org-only': of('org-only'),
    public: of('public'),
    followers: of('followers'),
    'explicit-share': of('explicit-share'),
    private: of('private'),
  };
}

/** Who may read a post (POST-2). */
export const postWords = wordsOf({
  'org-only': signedInText,
  public: visitorsToo,
  followers: 'People who follow the author.',
  'explicit-share': 'The people it is shared with, and nobody else.',
  private: 'Nobody else sees it.',
});

/** Who may open a collection (COLLECTION-1). */
export const collectionWords = wordsOf({
  'org-only': signedInText,
  public: visitorsToo,
  followers: 'People who follow its owner.',
  'explicit-share': 'The people it is shared with, and nobody else.',
  private: 'Nobody else opens it.',
});

/** Who sees an active file (ASSET-4). Administrators see every file. */
export const fileWords: Readonly<Record<Sensitivity, InWords>> = {
  posts: {
    label: labels.posts,
    explanation:
      'Everyone who can read a post of yours, or of its team, that contains it. Until then only you and its team.',
  },
  restricted: {
    label: labels.self,
    explanation: 'You, and people you share the file with. Others see an empty frame and your name.',
  },
  team: {
    label: labels.team,
    explanation: 'Members of its team. Others see an empty frame and your name.',
  },
  org: { label: labels.here, explanation: 'Everyone who signs in, whatever post it is in. Never visitors.' },
  public: { label: labels.everyone, explanation: `${visitorsToo} Even if no post contains it.` },
};

/** The audiences of a file's own, from the usual to the widest. */
export const sensitivities: readonly Sensitivity[] = ['posts', 'restricted', 'team', 'org', 'public'];

/** Whether a file can be seen by people who cannot see a post of this audience. */
export function isWiderThan(sensitivity: Sensitivity, visibility: Visibility): boolean {
  if (sensitivity === 'public') return visibility !== 'public';
  return sensitivity === 'org' && isNarrow(visibility);
}

/** What can be chosen for a new post or collection, from the usual to the narrowest. */
export const visibilities: readonly Visibility[] = [
  'org-only',
  'public',
  'followers',
  'explicit-share',
  'private',
];

/** Whether a card says who sees the post: only where that is narrower than everyone here. */
export function isNarrow(visibility: Visibility): boolean {
  return visibility !== 'public' && visibility !== 'org-only';
}
