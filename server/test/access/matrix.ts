/**
 * The access matrix, as data, written from the specification (2.2 to 2.5, part 5) and choices.md, not from the code.
 * Every cell says what a kind of caller is given; matrix.test.ts holds every door against it.
 */

/** Everybody in the town. Each signed-in one but `author` is somebody other than the author and owner. */
export const callers = [
  'anonymous, public mode off',
  'anonymous, public mode on',
  'stranger',
  'follower',
  'sharee',
  'team member',
  'mature opted in',
  'author',
  'posts.admin',
  'assets.admin',
  'content.read.all',
  'system.admin',
] as const;
export type CallerKind = (typeof callers)[number];

/** Those who are not let in at all; everything below is about the others. */
export const outside: readonly CallerKind[] = ['anonymous, public mode off'];

const signedIn = callers.filter((caller) => !caller.startsWith('anonymous'));

export const visibilities = ['public', 'private', 'org-only', 'followers', 'explicit-share'] as const;

/** choices, posts: who reads a live, published post of each visibility. */
export const readers: Record<(typeof visibilities)[number], readonly CallerKind[]> = {
  public: ['anonymous, public mode on', ...signedIn],
  'org-only': signedIn,
  followers: ['follower', 'author', 'posts.admin', 'system.admin'],
  'explicit-share': ['sharee', 'author', 'posts.admin', 'system.admin'],
  private: ['author', 'posts.admin', 'system.admin'],
};

/** spec 2.2 rule 5: who reads a live draft, whatever its visibility. */
export const draftReaders: readonly CallerKind[] = ['author', 'posts.admin', 'system.admin'];

/** The states of an asset that its rules ask for. */
export const statuses = ['draft', 'active', 'archived'] as const;
export const processings = ['pending', 'ready', 'failed'] as const;
export const sensitivities = ['public', 'team', 'restricted'] as const;

/** choices, assets: who is given a live row whatever its state; the author owns every asset of the matrix. */
export const alwaysGiven: readonly CallerKind[] = ['author', 'assets.admin', 'system.admin'];

/** choices, assets: the read rule of everybody else, by status and processing status. */
export const givenToSignedIn: Record<string, boolean> = {
  'active pending': true,
  'active ready': true,
  'active failed': false,
};

/** spec 2.5 `anonymously_visible`: the one combination a stranger without an account is given. */
export const givenToAnonymous = 'active ready public';

/** choices, assets: whose columns are shown, by sensitivity, once the row is given. */
export const shownTo: Record<(typeof sensitivities)[number], readonly CallerKind[]> = {
  public: ['anonymous, public mode on', ...signedIn],
  team: ['team member', 'author', 'assets.admin', 'content.read.all', 'system.admin'],
  restricted: ['author', 'assets.admin', 'content.read.all', 'system.admin'],
};

/** choices, assets: who is served the bytes of a mature asset once its columns are shown. */
export const servedMature: readonly CallerKind[] = [
  'mature opted in',
  'author',
  'assets.admin',
  'system.admin',
];
