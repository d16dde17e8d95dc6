import { type Static, Type } from 'typebox';
import { approvalErrors, Override, OverrideReason } from './approvals.ts';
import { PresetKey } from './downloads.ts';
import { LinkGuest } from './guests.ts';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Removal, Timestamp, Uuid } from './values.ts';
import { VersionNumber } from './versions.ts';

/** Links that show one post, asset or collection to anyone who has the address (LINK-1). */

export const TargetKind = Type.Enum(['post', 'asset', 'collection']);
export type TargetKind = Static<typeof TargetKind>;

const Label = Type.String({ maxLength: 200 });
const Password = Type.String({ minLength: 1, maxLength: 500 });
/** LINK-23: the only forms in which visitors download files. */
const Presets = Type.Array(PresetKey, { minItems: 1, maxItems: 50 });
/** A text drawn onto every picture; `true` uses the name of the library, `false` removes it. */
const Watermark = Type.Union([Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }), Type.Boolean()]);

/** GUEST-5: the most picks of a guest. */
export const MaxPicks = Type.Integer({ minimum: 1, maximum: 10_000 });

const record = {
  id: Uuid,
  label: Type.String(),
  target_kind: TargetKind,
  target_id: Uuid,
  expires_at: nullable(Timestamp),
  has_password: Type.Boolean(),
  allow_download: Type.Boolean(),
  /** The text drawn onto pictures, or null for none. */
  watermark: nullable(Type.String()),
  /** The version that a link to an asset shows; absent if it shows the current one. */
  version: Type.Optional(VersionNumber),
  /** The keys of the presets in which visitors download files instead of the originals; absent for originals. */
  presets: Type.Optional(Presets),
  /** Whether guests may comment, annotate and decide. */
  allow_feedback: Type.Boolean(),
  /** Whether guests may pick favourites. */
  allow_picks: Type.Boolean(),
  /** The most files that a guest may pick; absent for any number. */
  max_picks: Type.Optional(MaxPicks),
  opened_count: Count,
  last_opened_at: nullable(Timestamp),
  /** How often files of the link were opened in the viewer. */
  view_count: Count,
  /** How many files of the link were downloaded. */
  download_count: Count,
  created_at: Timestamp,
  revoked_at: nullable(Timestamp),
  /** Assets of the target that the link omits: mature assets and those with an audience of their own. */
  omitted_count: Count,
};

/** A link to one target, for its editors. Lists of the creator's own links have its address (`ListedLink`). */
export const ShareLink = closed(record);
export type ShareLink = Static<typeof ShareLink>;

/** A link in a list of links to different targets. */
export const ListedLink = closed({
  ...record,
  /** The address, if the caller created or renewed the link. Absent for a link made before addresses were stored. */
  url: Type.Optional(Type.String()),
  created_by: Type.Optional(PostAuthor),
  /** The title of the target; null if it is in the trash or the caller may not read it. */
  target_title: nullable(Type.String()),
});
export type ListedLink = Static<typeof ListedLink>;

/** A new or renewed link with its address. */
export const NewShareLink = closed({ ...record, url: Type.String(), token: Type.String() });
export type NewShareLink = Static<typeof NewShareLink>;

export const ShareLinkCreate = closed({
  label: Type.Optional(nullable(Label)),
  expires_at: Type.Optional(nullable(Timestamp)),
  password: Type.Optional(nullable(Password)),
  allow_download: Type.Optional(nullable(Type.Boolean())),
  watermark: Type.Optional(nullable(Watermark)),
  /** For links to assets: always show this version instead of the current one. */
  version: Type.Optional(nullable(VersionNumber)),
  /** Presets of the caller, in which visitors download files instead of the originals. */
  presets: Type.Optional(nullable(Presets)),
  override_reason: OverrideReason,
  allow_feedback: Type.Optional(nullable(Type.Boolean())),
  allow_picks: Type.Optional(nullable(Type.Boolean())),
  max_picks: Type.Optional(nullable(MaxPicks)),
});
export type ShareLinkCreate = Static<typeof ShareLinkCreate>;

const target = closed({ id: Uuid });

export const listPostLinks = operation({
  id: 'listPostLinks',
  method: 'GET',
  path: '/posts/{id}/links',
  tag: 'Links',
  summary: 'List the links to a post',
  description:
    'Lists links, newest first, including revoked ones, for the editors of the post. Addresses are in the list of the own links.',
  door: 'signedIn',
  scope: 'read',
  params: target,
  query: closed(pageQuery),
  responses: { 200: page(ShareLink) },
  errors: ['not-author', 'not-found', 'not-owner'],
});

export const createPostLink = operation({
  id: 'createPostLink',
  method: 'POST',
  path: '/posts/{id}/links',
  tag: 'Links',
  summary: 'Create a link to a post',
  description:
    'Creates a link and returns its address for the editors of the post. The link omits mature assets and those with an audience of their own. Returns 409 when the post already has 100 active links.',
  door: 'signedIn',
  scope: 'posts.write',
  params: target,
  example: { label: 'For Jonas', expires_at: '2026-12-21T09:30:00.000Z', allow_download: true },
  body: ShareLinkCreate,
  bodyOptional: true,
  responses: { 201: NewShareLink },
  errors: [
    'link-mature-content',
    'not-author',
    'not-found',
    'not-owner',
    'preset-not-found',
    'time-in-the-past',
    'too-many-links',
    'version-of-asset-only',
    ...approvalErrors,
  ],
});

export const listAssetLinks = operation({
  id: 'listAssetLinks',
  method: 'GET',
  path: '/assets/{id}/links',
  tag: 'Links',
  summary: 'List the links to an asset',
  description:
    'Lists links, newest first, including revoked ones, for the owner and `assets.admin`. Addresses are in the list of the own links.',
  door: 'signedIn',
  scope: 'read',
  params: target,
  query: closed(pageQuery),
  responses: { 200: page(ShareLink) },
  errors: ['not-author', 'not-found', 'not-owner'],
});

export const createAssetLink = operation({
  id: 'createAssetLink',
  method: 'POST',
  path: '/assets/{id}/links',
  tag: 'Links',
  summary: 'Create a link to an asset',
  description:
    'Creates a link and returns its address for the owner and `assets.admin`. Assets of any sensitivity can be linked. With `version`, the link always shows that version. Returns 409 for a mature asset and when the asset already has 100 active links.',
  door: 'signedIn',
  scope: 'assets.write',
  params: target,
  example: { label: 'For Jonas', watermark: 'Draft' },
  body: ShareLinkCreate,
  bodyOptional: true,
  responses: { 201: NewShareLink },
  errors: [
    'link-mature-content',
    'not-author',
    'not-found',
    'not-owner',
    'preset-not-found',
    'time-in-the-past',
    'too-many-links',
    'version-not-found',
  ],
});

export const listCollectionLinks = operation({
  id: 'listCollectionLinks',
  method: 'GET',
  path: '/collections/{id}/links',
  tag: 'Links',
  summary: 'List the links to a collection',
  description:
    'Lists links, newest first, including revoked ones, for the owner and `system.admin`. Addresses are in the list of the own links.',
  door: 'signedIn',
  scope: 'read',
  params: target,
  query: closed(pageQuery),
  responses: { 200: page(ShareLink) },
  errors: ['not-author', 'not-found', 'not-owner'],
});

export const createCollectionLink = operation({
  id: 'createCollectionLink',
  method: 'POST',
  path: '/collections/{id}/links',
  tag: 'Links',
  summary: 'Create a link to a collection',
  description:
    'Creates a link and returns its address for the owner and `system.admin`. Returns 409 when the collection already has 100 active links.',
  door: 'signedIn',
  scope: 'posts.write',
  params: target,
  example: { label: 'For Jonas', password: 'seagull' },
  body: ShareLinkCreate,
  bodyOptional: true,
  responses: { 201: NewShareLink },
  errors: [
    'link-mature-content',
    'not-author',
    'not-found',
    'not-owner',
    'preset-not-found',
    'time-in-the-past',
    'too-many-links',
    'version-of-asset-only',
  ],
});

/** Absent and null leave a value unchanged, `clear_*` removes it (HTTP-17). */
export const ShareLinkUpdate = closed({
  label: Type.Optional(nullable(Label)),
  expires_at: Type.Optional(nullable(Timestamp)),
  clear_expires_at: Removal,
  password: Type.Optional(nullable(Password)),
  clear_password: Removal,
  allow_download: Type.Optional(nullable(Type.Boolean())),
  watermark: Type.Optional(nullable(Watermark)),
  clear_watermark: Removal,
  version: Type.Optional(nullable(VersionNumber)),
  clear_version: Removal,
  presets: Type.Optional(nullable(Presets)),
  clear_presets: Removal,
  allow_feedback: Type.Optional(nullable(Type.Boolean())),
  allow_picks: Type.Optional(nullable(Type.Boolean())),
  max_picks: Type.Optional(nullable(MaxPicks)),
  clear_max_picks: Removal,
  /** Why an expired link to a post works again without the approvals that links need. */
  override_reason: OverrideReason,
});
export type ShareLinkUpdate = Static<typeof ShareLinkUpdate>;

const managed = closed({ link: Uuid });

export const updateLink = operation({
  id: 'updateLink',
  method: 'PATCH',
  path: '/links/{link}',
  tag: 'Links',
  summary: 'Change a link',
  description:
    'Addressed by id, for the editors of its target. Returns 409 for a revoked link. An expired link gets another expiry, or none, only where a new link could be created: with the approvals that links to posts need, and below the limit of 100 links that work. Links to assets need the scope `assets.write`, others `posts.write`.',
  door: 'signedIn',
  scope: 'posts.write',
  otherScopes: ['assets.write'],
  params: managed,
  example: { label: 'For Jonas', clear_expires_at: true },
  body: ShareLinkUpdate,
  responses: { 200: ShareLink },
  errors: [
    'exclusive-properties',
    'link-revoked',
    'not-found',
    'preset-not-found',
    'time-in-the-past',
    'too-many-links',
    'version-not-found',
    'version-of-asset-only',
    ...approvalErrors,
  ],
});

export const revokeLink = operation({
  id: 'revokeLink',
  method: 'DELETE',
  path: '/links/{link}',
  tag: 'Links',
  summary: 'Revoke a link',
  description:
    'Addressed by id, for the editors of its target. Idempotent; takes effect at once and cannot be undone.',
  door: 'signedIn',
  scope: 'posts.write',
  otherScopes: ['assets.write'],
  params: managed,
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const renewLink = operation({
  id: 'renewLink',
  method: 'POST',
  path: '/links/{link}/renew',
  tag: 'Links',
  summary: 'Give a link a new address',
  description:
    'Replaces the address, for the editors of the target; the former address is 404 at once. The link keeps its id, terms and counts, and belongs to the caller from now on. Returns 409 for a revoked link.',
  door: 'signedIn',
  scope: 'posts.write',
  otherScopes: ['assets.write'],
  params: managed,
  body: Override,
  bodyOptional: true,
  responses: { 201: NewShareLink },
  errors: ['link-revoked', 'not-found', ...approvalErrors],
});

export const listOwnLinks = operation({
  id: 'listOwnLinks',
  method: 'GET',
  path: '/account/links',
  tag: 'Links',
  summary: 'List your links',
  description:
    'Lists the links that the caller created or renewed, newest first, including revoked ones, with their addresses. `target_id` narrows it to one post, asset or collection.',
  door: 'signedIn',
  scope: 'read',
  query: closed({ ...pageQuery, target_id: Type.Optional(Uuid) }),
  responses: { 200: page(ListedLink) },
  errors: [],
});

export const listAllLinks = operation({
  id: 'listAllLinks',
  method: 'GET',
  path: '/admin/links',
  tag: 'Links',
  summary: 'List all links',
  description:
    'Lists the links of everyone, newest first, including revoked ones. Addresses are included for links that the caller created.',
  door: { holds: 'system.admin' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(ListedLink) },
  errors: [],
});

/** How often a guest, or all visitors without a name together, opened and downloaded a file through a link. */
export const LinkFileUse = closed({
  asset_id: Uuid,
  /** Absent for visitors who have not given a name. */
  guest: Type.Optional(LinkGuest),
  /** Null if the caller may not see the asset. */
  title: nullable(Type.String()),
  preview_available: Type.Boolean(),
  view_count: Count,
  download_count: Count,
  last_viewed_at: nullable(Timestamp),
  last_downloaded_at: nullable(Timestamp),
});
export type LinkFileUse = Static<typeof LinkFileUse>;

export const listLinkViews = operation({
  id: 'listLinkViews',
  method: 'GET',
  path: '/links/{link}/views',
  tag: 'Links',
  summary: 'List views and downloads of a link',
  description:
    'Lists which guest opened which file in the viewer and downloaded it, how often and when last, the latest first. Visitors without a name are counted together. Addressed by id, for the editors of the target.',
  door: 'signedIn',
  scope: 'read',
  params: managed,
  query: closed(pageQuery),
  responses: { 200: page(LinkFileUse) },
  errors: ['not-found'],
});
