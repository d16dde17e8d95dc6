/**
 * The access matrix, as data, written from the rules in docs/rules,
 * not from the code. due.ts says what follows for one cell, matrix.test.ts and about.test.ts hold every door against it.
 */

/** A thing's team. `team` is below `above` and has `below`; `elsewhere` is nobody's relative. */
export const teams = ['none', 'above', 'team', 'below', 'elsewhere'] as const;
export type TeamName = (typeof teams)[number];

export const visibilities = ['public', 'private', 'org-only', 'followers', 'explicit-share'] as const;
export type Visibility = (typeof visibilities)[number];
export const statuses = ['draft', 'active', 'archived'] as const;
export const processings = ['pending', 'ready', 'failed'] as const;
export const sensitivities = ['posts', 'public', 'org', 'team', 'restricted'] as const;

/** As whom somebody comes. Each is somebody else; only `author` wrote the posts, only `owner` owns the assets. */
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

/** Whom the rules about assets tell apart from a stranger; the others are asked about single assets in part. */
export const byAssets: readonly CallerKind[] = callerKinds.filter((kind) =>
  /^(anonymous|stranger|follower|sharee|member|opted|author|owner|assets|teams|content|administrator|system)/.test(
    kind,
  ),
);

/** Whom the rules about posts tell apart from a stranger. */
export const byPosts: readonly CallerKind[] = callerKinds.filter((kind) =>
  /^(anonymous|stranger|commenter|follow|sharee|keeps|author|posts|administrator|system)/.test(kind),
);

const signedIn = callerKinds.filter((kind) => kind !== 'anonymous');

/** TOKEN-5, IMPERSONATION-10: whoever comes in another way is given what these are given. */
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

/** POST-2: who reads a live, published post by its visibility alone. */
export const readers: Record<Visibility, readonly CallerKind[]> = {
  public: ['anonymous', ...signedIn],
  'org-only': signedIn,
  followers: ['follower'],
  'explicit-share': ['sharee'],
  private: [],
};

const administerAllPosts = ['posts.admin', 'administrator by an inherited role', 'system.admin'] as const;

/** POST-3, ROLE-6: who reads, edits and lists any live post of a team, drafts included. */
export const postAdministrators: Record<TeamName, readonly CallerKind[]> = {
  none: administerAllPosts,
  above: [...administerAllPosts, 'posts.admin in the team above'],
  team: [...administerAllPosts, 'posts.admin in the team above', 'posts.admin in the team'],
  below: [...administerAllPosts, 'posts.admin in the team above', 'posts.admin in the team'],
  elsewhere: administerAllPosts,
};

/** ASSET-3: an asset of sensitivity `posts` is given to the members of its team. */
export const membersOf: Record<TeamName, readonly CallerKind[]> = {
  none: [],
  above: ['member of the team above'],
  team: ['member of the team'],
  below: ['member of the team below'],
  elsewhere: [],
};

/** ASSET-9: whom shared assets are shared with by name. */
export const assetSharees: readonly CallerKind[] = ['sharee'];

/** ASSET-1: what everybody signed in is given, whosever it is; of sensitivity `posts` through posts alone. */
export const givenToSignedIn = { status: ['active'], processing: ['ready', 'pending'] } as const;

/** ASSET-2 `anonymously_visible`: what a stranger without an account is given. */
export const givenToAnonymous = {
  status: ['active'],
  processing: ['ready'],
} as const;

const administerAllAssets = ['assets.admin', 'administrator by an inherited role', 'system.admin'] as const;

/** ASSET-13, ROLE-6: who is given, shown, served and may change any live asset of a team. */
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

/** ASSET-4: members of the asset's team and administrators of the teams below it; a team is its own too. */
export const shownTeamAssets: Record<TeamName, readonly CallerKind[]> = {
  none: [],
  above: ['member of the team above', 'teams.write in the team', 'teams.write in the team below'],
  team: ['member of the team', 'teams.write in the team', 'teams.write in the team below'],
  below: ['member of the team below', 'teams.write in the team', 'teams.write in the team below'],
  elsewhere: [],
};

/** ASSET-11: who is shown every asset of a team they are given, restricted ones too. */
export const shownEverything: Record<TeamName, readonly CallerKind[]> = {
  none: ['content.read.all'],
  above: ['content.read.all'],
  team: ['content.read.all', 'content.read.all in the team'],
  below: ['content.read.all', 'content.read.all in the team'],
  elsewhere: ['content.read.all'],
};

/** ASSET-6: who besides owner and administrators is served mature bytes, where the install allows. */
export const optedIn: readonly CallerKind[] = ['opted in to mature'];

/** FEED-5 `feed_filters`: whose feed keeps placeholders. */
export const keepPlaceholders: readonly CallerKind[] = ['keeps placeholders'];

/** TRASH-2: who undoes a delete of somebody else's, or of nobody's. */
export const undoAnyDelete: readonly CallerKind[] = ['system.admin'];

/** COLLECTION-1, COLLECTION-2: who besides its owner opens and changes any live collection, expired ones too. */
export const collectionAdministrators: readonly CallerKind[] = ['system.admin'];

/** COMMENT-8: who besides the comment's author, the post's author and its administrators takes one away. */
export const commentAuthor: CallerKind = 'commenter';

/** POST-21. */
export const placeholderKeys = ['asset_id', 'restricted', 'sort_order'] as const;
export const memberKeys = ['asset', 'asset_id', 'restricted', 'sort_order'] as const;

/** ASSET-5: what a withheld asset carries. */
export const withheldKeys = ['id', 'restricted'] as const;

/** ASSET-12: what a shown asset carries whoever asks; `owner`, `sensitivity` and `team_id` may join. */
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

/** POST-30: what a post carries whoever asks; `author`, `comments_preview` and `team_id` may join. */
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

/** COLLECTION-1: what one carries whoever asks; `owner` may join. */
export const collectionKeys = [
  'cover_focal_x',
  'cover_focal_y',
  'cover_post_id',
  'covers',
  'created_at',
  'description',
  'expires_at',
  'id',
  'item_count',
  'name',
  'owner_user_ref',
  'updated_at',
  'visibility',
] as const;
