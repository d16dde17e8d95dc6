import { type Visibility, visibilityNames } from '@vitrine/contract/visibilities';

/**
 * The access matrix, as data, written from the rules in docs/rules,
 * not from the code. due.ts derives the outcome of one cell; matrix.test.ts and described.test.ts compare every operation.
 */

/** The team of an object. `team` is below `above` and above `below`; `elsewhere` is unrelated. */
export const teams = ['none', 'above', 'team', 'below', 'elsewhere'] as const;
export type TeamName = (typeof teams)[number];

export const visibilities = visibilityNames;
export const statuses = ['draft', 'active', 'archived'] as const;
export const processings = ['pending', 'ready', 'failed'] as const;
export const sensitivities = ['posts', 'public', 'org', 'team', 'restricted'] as const;

/** Kinds of callers, each a different account; only `author` wrote the posts, only `owner` owns the assets. */
export const callerKinds = [
  'anonymous',
  'stranger',
  'commenter',
  'follower',
  'followed by the author',
  'sharee',
  'member of the team',
  'member of the team above',
  'member of the team below',
  'opted in to mature',
  'keeps placeholders',
  'author',
  'owner',
  'posts.admin',
  'posts.admin in the team',
  'posts.admin in the team above',
  'assets.admin',
  'assets.admin in the team',
  'assets.admin in the team above',
  'assets.admin in the team below',
  'assets.admin in the team above, revoked in the team',
  'teams.write in the team',
  'teams.write in the team below',
  'content.read.all',
  'content.read.all in the team',
  'administrator by an inherited role',
  'system.admin',
] as const;
export type CallerKind = (typeof callerKinds)[number];

/** Callers whom the rules of assets distinguish from a stranger; the others request only some single assets. */
export const byAssets: readonly CallerKind[] = callerKinds.filter((kind) =>
  /^(anonymous|stranger|follower|sharee|member|opted|author|owner|assets|teams|content|administrator|system)/.test(
    kind,
  ),
);

/** Callers whom the rules of posts distinguish from a stranger. */
export const byPosts: readonly CallerKind[] = callerKinds.filter((kind) =>
  /^(anonymous|stranger|commenter|follow|sharee|keeps|author|posts|administrator|system)/.test(kind),
);

const signedIn = callerKinds.filter((kind) => kind !== 'anonymous');

/** TOKEN-5, IMPERSONATION-10: disguised callers get what these callers get. */
export const disguises = {
  'impersonator of the author': { kind: 'author' },
  'impersonator of the owner': { kind: 'owner' },
  'token of the author, scope read': { kind: 'author', scopes: ['read'] },
  'token of the author, without scope read': { kind: 'author', scopes: ['posts.write'] },
  'token of the owner, scope admin': { kind: 'owner', scopes: ['admin'] },
  'administrator until yesterday': { kind: 'stranger' },
  'administrator, revoked': { kind: 'stranger' },
} as const satisfies Record<string, { kind: CallerKind; scopes?: readonly string[] }>;
export type Disguise = keyof typeof disguises;

/** POST-2: callers who read a live, published post because of its visibility. */
export const readers: Record<Visibility, readonly CallerKind[]> = {
  public: ['anonymous', ...signedIn],
  'org-only': signedIn,
  followers: ['follower'],
  'explicit-share': ['sharee'],
  private: [],
};

const administerAllPosts = ['posts.admin', 'administrator by an inherited role', 'system.admin'] as const;

/** POST-3, ROLE-6: callers who read, edit and list any live post of a team, including drafts. */
export const postAdministrators: Record<TeamName, readonly CallerKind[]> = {
  none: administerAllPosts,
  above: [...administerAllPosts, 'posts.admin in the team above'],
  team: [...administerAllPosts, 'posts.admin in the team above', 'posts.admin in the team'],
  below: [...administerAllPosts, 'posts.admin in the team above', 'posts.admin in the team'],
  elsewhere: administerAllPosts,
};

/** ASSET-3: members of the team receive its assets of sensitivity `posts`. */
export const membersOf: Record<TeamName, readonly CallerKind[]> = {
  none: [],
  above: ['member of the team above'],
  team: ['member of the team'],
  below: ['member of the team below'],
  elsewhere: [],
};

/** ASSET-9: callers with whom shared assets are shared by name. */
export const assetSharees: readonly CallerKind[] = ['sharee'];

/** ASSET-1: assets that every signed-in caller receives; those of sensitivity `posts` only through posts. */
export const givenToSignedIn = { status: ['active'], processing: ['ready', 'pending'] } as const;

/** ASSET-2 `anonymously_visible`: assets that anonymous visitors receive. */
export const givenToAnonymous = {
  status: ['active'],
  processing: ['ready'],
} as const;

const administerAllAssets = ['assets.admin', 'administrator by an inherited role', 'system.admin'] as const;

/** ASSET-13, ROLE-6: callers who receive, see and may edit any live asset of a team, and its bytes. */
export const assetAdministrators: Record<TeamName, readonly CallerKind[]> = {
  none: administerAllAssets,
  above: [
    ...administerAllAssets,
    'assets.admin in the team above',
    'assets.admin in the team above, revoked in the team',
  ],
  team: [...administerAllAssets, 'assets.admin in the team above', 'assets.admin in the team'],
  below: [
    ...administerAllAssets,
    'assets.admin in the team above',
    'assets.admin in the team',
    'assets.admin in the team below',
  ],
  elsewhere: administerAllAssets,
};

/** ASSET-4: members of the asset's team, and administrators of it and of the teams below it. */
export const shownTeamAssets: Record<TeamName, readonly CallerKind[]> = {
  none: [],
  above: ['member of the team above', 'teams.write in the team', 'teams.write in the team below'],
  team: ['member of the team', 'teams.write in the team', 'teams.write in the team below'],
  below: ['member of the team below', 'teams.write in the team', 'teams.write in the team below'],
  elsewhere: [],
};

/** ASSET-11: callers who see every asset of a team that they receive, including restricted ones. */
export const shownEverything: Record<TeamName, readonly CallerKind[]> = {
  none: ['content.read.all'],
  above: ['content.read.all'],
  team: ['content.read.all', 'content.read.all in the team'],
  below: ['content.read.all', 'content.read.all in the team'],
  elsewhere: ['content.read.all'],
};

/** ASSET-6: callers besides owner and administrators who receive mature bytes if the install allows it. */
export const optedIn: readonly CallerKind[] = ['opted in to mature'];

/** FEED-5 `feed_filters`: callers whose feed includes placeholders. */
export const keepPlaceholders: readonly CallerKind[] = ['keeps placeholders'];

/** TRASH-2: callers who undo deletions of other accounts and those without an account. */
export const undoAnyDelete: readonly CallerKind[] = ['system.admin'];

/** COLLECTION-1, COLLECTION-2: callers besides the owner who open and edit any live collection, including expired ones. */
export const collectionAdministrators: readonly CallerKind[] = ['system.admin'];

/** COMMENT-8: callers besides the comment's author, the post's author and its administrators who delete a comment. */
export const commentAuthor: CallerKind = 'commenter';

/** POST-21. */
export const placeholderKeys = ['asset_id', 'restricted', 'sort_order'] as const;
export const memberKeys = ['asset', 'asset_id', 'restricted', 'sort_order'] as const;

/** ASSET-5: the properties of a withheld asset. */
export const withheldKeys = ['id', 'restricted'] as const;

/** ASSET-12: the properties of a visible asset for every caller; `owner`, `sensitivity` and `team_id` are optional. */
export const assetKeys = [
  'ai_provenance',
  'anonymously_visible',
  'asset_type',
  'created_at',
  'description',
  'file_extension',
  'file_hash',
  'file_size_bytes',
  'id',
  'ladder_available',
  'mature',
  'metadata',
  'owner_user_ref',
  'pixel_height',
  'pixel_width',
  'preview_available',
  'processing_status',
  'restricted',
  'scrub_available',
  'state_id',
  'status',
  'subtitle_tracks',
  'tag_details',
  'tags',
  'thumbhash',
  'title',
  'updated_at',
] as const;

/** POST-30: the properties of a post for every caller; `author`, `comments_preview` and `team_id` are optional. */
export const postKeys = [
  'ai_provenance',
  'author_user_ref',
  'comment_count',
  'comments_enabled',
  'cover_asset_id',
  'cover_focal_x',
  'cover_focal_y',
  'cover_thumbnail_asset_id',
  'created_at',
  'description',
  'draft',
  'id',
  'like_count',
  'liked',
  'members',
  'posted_at',
  'state_id',
  'tags',
  'title',
  'updated_at',
  'visibility',
] as const;

/** COLLECTION-1: the properties of a collection for every caller; `owner` is optional. */
export const collectionKeys = [
  'cover_focal_x',
  'cover_focal_y',
  'cover_post_id',
  'covers',
  'created_at',
  'description',
  'expires_at',
  'has_files',
  'id',
  'item_count',
  'name',
  'owner_user_ref',
  'smart',
  'updated_at',
  'visibility',
] as const;
