import type { Sensitivity } from '@vitrine/contract/assets';
import { type Reach, type Visibility, visibilities } from '@vitrine/contract/visibilities';

/** The labels of the audiences of posts, collections and files, used on every page. AudienceBadge has the icons. */
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

/** The labels for people other than the owner, for whom "you" would be wrong. */
const labelsForOthers: Readonly<Record<Audience, string>> = {
  ...labels,
  self: 'Only its owner',
  chosen: 'Chosen people',
  followers: 'The owner’s followers',
};

/** Returns the label of an audience, from the owner's or from another person's point of view. */
export function audienceLabel(audience: Audience, isOwner: boolean, teamName?: string): string {
  if (audience === 'team' && teamName !== undefined) return `Team ${teamName}`;
  return (isOwner ? labels : labelsForOthers)[audience];
}

/** Returns the audience of a post or collection. */
export const audienceOfVisibility: Readonly<Record<Visibility, Audience>> = {
  private: 'self',
  'explicit-share': 'chosen',
  followers: 'followers',
  'org-only': 'here',
  public: 'everyone',
};

/** Returns the audience of a file itself. */
export const audienceOfSensitivity: Readonly<Record<Sensitivity, Audience>> = {
  posts: 'posts',
  restricted: 'self',
  team: 'team',
  org: 'here',
  public: 'everyone',
};

const visitorsToo = 'Everyone who signs in, and visitors while public mode is on.';
const signedInText = 'Everyone who signs in to this library.';

function wordsOf(visibility: Visibility, explanation: string): InWords {
  return { label: labels[audienceOfVisibility[visibility]], explanation };
}

/** Who may read a post (POST-2). */
export const postWords: Readonly<Record<Visibility, InWords>> = {
  'org-only': wordsOf('org-only', signedInText),
  public: wordsOf('public', visitorsToo),
  followers: wordsOf('followers', 'People who follow the author.'),
  'explicit-share': wordsOf('explicit-share', 'Only the people it is shared with.'),
  private: wordsOf('private', 'No one else can see it.'),
};

/** Who may open a collection (COLLECTION-1). */
export const collectionWords: Readonly<Record<Visibility, InWords>> = {
  'org-only': wordsOf('org-only', signedInText),
  public: wordsOf('public', visitorsToo),
  followers: wordsOf('followers', 'People who follow its owner.'),
  'explicit-share': wordsOf('explicit-share', 'Only the people it is shared with.'),
  private: wordsOf('private', 'No one else can open it.'),
};

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
  org: { label: labels.here, explanation: 'Everyone who signs in, regardless of its posts. Never visitors.' },
  public: { label: labels.everyone, explanation: `${visitorsToo} Even if no post contains it.` },
};

/** The audiences of files, from the default to the widest. */
export const sensitivities: readonly Sensitivity[] = ['posts', 'restricted', 'team', 'org', 'public'];

/** Returns whether people who cannot see a post of this audience can see a file. */
export function isWiderThan(sensitivity: Sensitivity, visibility: Visibility): boolean {
  if (sensitivity === 'public') return visibilities[visibility].reach !== 'visitors';
  return sensitivity === 'org' && isNarrow(visibility);
}

/**
 * The audiences for a new post or collection, from the default to the narrowest. The cast restores the type that
 * `Object.keys` loses.
 */
export const visibilityChoices = Object.keys(postWords) as Visibility[];

const narrowReaches: Readonly<Record<Reach, boolean>> = {
  visitors: false,
  accounts: false,
  some: true,
  none: true,
};

/** Returns whether a card shows the audience of the post: only if it is narrower than everyone here. */
export function isNarrow(visibility: Visibility): boolean {
  return narrowReaches[visibilities[visibility].reach];
}
