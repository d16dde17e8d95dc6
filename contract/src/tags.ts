import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp } from './values.ts';

/** TAG-3: 1 to 64 characters of any kind. */
export const TagName = Type.String({ minLength: 1, maxLength: 64 });

/** Counting posts stops at this number. */
export const COUNTED_POSTS = 1000;

/** A tag with the number of posts that the caller may read. */
export const Tag = closed({
  tag: Type.String(),
  /** At most 1,000; 0 for a tag that is only on assets. */
  post_count: Type.Integer({ minimum: 0, maximum: COUNTED_POSTS }),
  /** True if there are more posts than were counted. */
  post_count_capped: Type.Boolean(),
  followed: Type.Boolean(),
});
export type Tag = Static<typeof Tag>;

export const listTags = operation({
  id: 'listTags',
  method: 'GET',
  path: '/tags',
  tag: 'Tags',
  summary: 'List tags',
  description:
    'Lists tags of posts and assets that the caller may read, by name; with `q`, tags that begin with it come first. Only posts that the caller may read are counted.',
  door: 'public',
  scope: 'read',
  query: Type.Object({ ...pageQuery, q: Type.Optional(Type.String({ maxLength: 64 })) }),
  replica: true,
  responses: { 200: page(Tag) },
  errors: [],
});

const tagParams = closed({ tag: TagName });

export const getTag = operation({
  id: 'getTag',
  method: 'GET',
  path: '/tags/{tag}',
  tag: 'Tags',
  summary: 'Get a tag',
  description: 'Returns 404 for a tag that is only on content the caller may not read.',
  door: 'public',
  scope: 'read',
  params: tagParams,
  replica: true,
  responses: { 200: Tag },
  errors: ['not-found'],
});

export const followTag = operation({
  id: 'followTag',
  method: 'PUT',
  path: '/tags/{tag}/follow',
  tag: 'Tags',
  summary: 'Follow a tag',
  description:
    'Idempotent. Any text of 1 to 64 characters can be followed. Returns 409 when the caller already follows 200 tags.',
  door: 'signedIn',
  scope: 'admin',
  params: tagParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['too-many-followed-tags'],
});

export const unfollowTag = operation({
  id: 'unfollowTag',
  method: 'DELETE',
  path: '/tags/{tag}/follow',
  tag: 'Tags',
  summary: 'Unfollow a tag',
  description: 'Idempotent.',
  door: 'signedIn',
  scope: 'admin',
  params: tagParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: [],
});

export const FollowedTag = closed({ tag: Type.String(), followed_at: Timestamp });

export const listFollowedTags = operation({
  id: 'listFollowedTags',
  method: 'GET',
  path: '/auth/me/followed-tags',
  tag: 'Tags',
  summary: 'List followed tags',
  description: 'Lists the tags that the caller follows, the most recently followed first.',
  door: 'signedIn',
  scope: 'read',
  replica: true,
  responses: { 200: Type.Array(FollowedTag, { maxItems: 200 }) },
  errors: [],
});

/** A change that a job finishes in steps (TAG-7). The list of jobs shows its progress. */
export const TagRun = closed({
  id: Type.String({ format: 'uuid' }),
  /** Posts and assets that are changed already, and in total. */
  done: Count,
  total: Count,
});
export type TagRun = Static<typeof TagRun>;

/** What a rename or merge changed or would change, counted over the whole library. */
export const TagChange = closed({
  posts: Count,
  assets: Count,
  /** Accounts that followed the tag. */
  follows: Count,
  /** Accounts with the tag in their rail. */
  rails: Count,
  /** Saved views that use the tag. */
  views: Count,
  /** Saved searches that use the tag. */
  searches: Count,
  /** Smart collections that use the tag. */
  collections: Count,
  dry_run: Type.Boolean(),
  /** Only present if posts and assets are still being changed. */
  run: Type.Optional(TagRun),
});
export type TagChange = Static<typeof TagChange>;

const dryRun = Type.Optional(nullable(Type.Boolean()));

export const renameTag = operation({
  id: 'renameTag',
  method: 'POST',
  path: '/tags/{tag}/rename',
  tag: 'Tags',
  summary: 'Rename a tag',
  description:
    'Changes the tag everywhere, including the trash, follows, views, saved searches and smart collections. Returns 409 if a tag of the new name exists; merge the tags instead. `dry_run` only counts. With more than 1,000 posts and assets, a job finishes the change in steps, and `run` is present.',
  door: { holds: 'fields.vocabulary.merge' },
  scope: 'fields.admin',
  params: tagParams,
  example: { to: 'harbours' },
  body: closed({ to: TagName, dry_run: dryRun }),
  responses: { 200: TagChange },
  errors: ['not-found', 'tag-blank', 'tag-exists', 'tags-equal'],
});

export const mergeTags = operation({
  id: 'mergeTags',
  method: 'POST',
  path: '/tags/merge',
  tag: 'Tags',
  summary: 'Merge two tags',
  description:
    'Replaces `source` by `target` everywhere. `dry_run` only counts. With more than 1,000 posts and assets, a job finishes the change in steps, and `run` is present. Returns 404 for a tag that the caller may not see.',
  door: { holds: 'fields.vocabulary.merge' },
  scope: 'fields.admin',
  example: { source: 'harbor', target: 'harbour', reason: 'One spelling for all.' },
  body: closed({
    source: TagName,
    target: TagName,
    reason: Type.String({ minLength: 3, maxLength: 500, pattern: '\\S\\s*\\S\\s*\\S' }),
    dry_run: dryRun,
  }),
  responses: { 200: TagChange },
  errors: ['not-found', 'tags-equal'],
});
