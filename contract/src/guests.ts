import { type Static, Type } from 'typebox';
import { Annotation, CommentBody, NewAnnotation } from './annotations.ts';
import { bytes, events, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** Visitors of a link who have given a name: what they leave there, and what the editors of its target see of it. */

/** Visitors of a link name it by its token, editors of its target by its id. */
const token = Type.String();
const managed = closed({ link: Uuid });

/**
 * GUEST-2: one line with a visible character, and without characters that control others or change the direction of
 * the text around them.
 */
const GuestName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern:
    '^(?=.*[^\\s\\u00ad\\u034f\\u115f\\u1160\\u180b-\\u180e\\u200b-\\u200d\\u2060-\\u2065\\u3164\\ufe00-\\ufe0f\\uffa0])' +
    '[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb]*$',
});

/** A guest of a link. The name is what the guest says, and never an account (GUEST-1). */
export const LinkGuest = closed({ id: Uuid, name: Type.String() });
export type LinkGuest = Static<typeof LinkGuest>;

/** GUEST-7: a guest as others see them in comments. */
export const CommentGuest = closed({ name: Type.String() });

export const GuestDecision = Type.Enum(['approved', 'changes_requested']);
export type GuestDecision = Static<typeof GuestDecision>;

const Note = Type.String({ maxLength: 10_000 });

/** GUEST-9: what a guest decided about the target, or about one of its files. */
const decided = { decision: GuestDecision, note: Type.Optional(Type.String()), decided_at: Timestamp };
export const FileDecision = closed({ asset_id: Uuid, ...decided });

/** The decisions of a guest. */
export const GuestDecisions = closed({
  /** Absent before the guest has decided about the target. */
  ...Type.Partial(closed(decided)).properties,
  assets: Type.Array(FileDecision),
});
export type GuestDecisions = Static<typeof GuestDecisions>;

/** What the page of a link shows to the guest about themselves. */
export const GuestState = closed({
  ...LinkGuest.properties,
  muted: Type.Boolean(),
  pick_count: Count,
  decisions: GuestDecisions,
});
export type GuestState = Static<typeof GuestState>;

export const nameGuest = operation({
  id: 'nameGuest',
  method: 'POST',
  path: '/links/{token}/guest',
  tag: 'Links',
  summary: 'Give a name to a link',
  description:
    'Sets a cookie for this link, with which the visitor comments, picks and decides as a guest. A guest who has the cookie changes their name. Returns 403 if the link allows neither feedback nor picks. Guests of a link write at most 30 times a minute from one address.',
  door: 'open',
  scope: 'none',
  budget: 'guest',
  cookie: 'guest',
  unlisted: true,
  params: closed({ token }),
  example: { name: 'Jonas' },
  body: closed({ name: GuestName }),
  responses: { 200: LinkGuest },
  errors: ['guest-muted', 'link-password-required', 'link-without-guests', 'not-found', 'too-many-guests'],
});

/** Whether a guest picks a file, and how many files they pick. */
export const PickState = closed({ picked: Type.Boolean(), pick_count: Count });

const pick = {
  path: '/links/{token}/picks/{asset_id}',
  tag: 'Links',
  door: 'open',
  scope: 'none',
  budget: 'guest',
  unlisted: true,
  params: closed({ token, asset_id: Uuid }),
  responses: { 200: PickState },
} as const;

export const pickLinkedAsset = operation({
  ...pick,
  id: 'pickLinkedAsset',
  method: 'PUT',
  summary: 'Pick a file of a link',
  description:
    'Idempotent. Returns 401 before the visitor has given a name, 403 if the link allows no picks, and 409 for more than `max_picks` files.',
  errors: [
    'guest-muted',
    'guest-without-name',
    'link-password-required',
    'link-picks-not-allowed',
    'not-found',
    'too-many-picks',
  ],
});

export const unpickLinkedAsset = operation({
  ...pick,
  id: 'unpickLinkedAsset',
  method: 'DELETE',
  summary: 'Remove a pick of a file of a link',
  description: 'Idempotent.',
  errors: [
    'guest-muted',
    'guest-without-name',
    'link-password-required',
    'link-picks-not-allowed',
    'not-found',
  ],
});

const decides = { decision: GuestDecision, note: Type.Optional(nullable(Note)) };
export const FileDecide = closed({ asset_id: Uuid, ...decides });

export const GuestDecide = closed({
  ...decides,
  assets: Type.Optional(nullable(Type.Array(FileDecide, { maxItems: 1000 }))),
});

export const decideAsGuest = operation({
  id: 'decideAsGuest',
  method: 'POST',
  path: '/links/{token}/decide',
  tag: 'Links',
  summary: 'Decide about what a link shows',
  description:
    'Approves the target of the link, or requests changes, and, with `assets`, of single files. A guest decides as often as they want; the latest decision counts. It is no approval that publishing needs. Returns 403 if the link allows no feedback.',
  door: 'open',
  scope: 'none',
  budget: 'guest',
  unlisted: true,
  params: closed({ token }),
  example: { decision: 'changes_requested', note: 'The second picture is too dark.' },
  body: GuestDecide,
  responses: { 200: GuestDecisions },
  errors: [
    'given-twice',
    'guest-muted',
    'guest-without-name',
    'link-feedback-not-allowed',
    'link-password-required',
    'not-found',
  ],
});

/** A comment of a guest as the visitors of the link see it. */
export const LinkComment = closed({
  id: Uuid,
  guest: CommentGuest,
  /** Whether this guest wrote it. */
  own: Type.Boolean(),
  /** The file that it is about; absent if it is about everything. */
  asset_id: Type.Optional(Uuid),
  body: Type.String(),
  annotation: Type.Optional(Annotation),
  created_at: Timestamp,
});
export type LinkComment = Static<typeof LinkComment>;

export const listGuestComments = operation({
  id: 'listGuestComments',
  method: 'GET',
  path: '/links/{token}/comments',
  tag: 'Links',
  summary: 'List the comments at a link',
  description:
    'Lists what the guests of this link wrote about what it shows, newest first. Returns 403 if the link allows no feedback.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  params: closed({ token }),
  query: closed(pageQuery),
  responses: { 200: page(LinkComment) },
  errors: ['link-feedback-not-allowed', 'link-password-required', 'not-found'],
});

export const streamLinkEvents = operation({
  id: 'streamLinkEvents',
  method: 'GET',
  path: '/links/{token}/events',
  tag: 'Links',
  summary: 'Stream the feedback at a link',
  description:
    'Streams the comments that `GET /links/{token}/comments` lists as guests write them and as they are removed; read the list again after an interruption. Contains nothing about members. The stream ends when the link takes no more feedback, gets another address or password, or is no longer valid. Returns 429 when the address of the visitor has twenty open streams, or the link two hundred.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  params: closed({ token }),
  responses: {
    200: events({
      // A new comment, or one that was removed.
      comment: Type.Union([LinkComment, closed({ id: Uuid, deleted: Type.Literal(true) })]),
      // A guest was renamed, muted or unmuted. `guest` is the reader, if they are a guest.
      guests: closed({ guest: Type.Optional(closed({ name: Type.String(), muted: Type.Boolean() })) }),
      // The last event before the server stops.
      closing: closed({ reconnect_after_ms: Count }),
    }),
  },
  errors: ['link-feedback-not-allowed', 'link-password-required', 'not-found', 'too-many-event-streams'],
});

const guestComment = {
  method: 'POST',
  tag: 'Links',
  door: 'open',
  scope: 'none',
  budget: 'guest',
  unlisted: true,
  params: closed({ token }),
  responses: { 201: LinkComment },
} as const;

export const commentAsGuest = operation({
  ...guestComment,
  id: 'commentAsGuest',
  path: '/links/{token}/comments',
  summary: 'Comment at a link',
  description:
    'Comments on everything that the link shows or, with `asset_id`, on one file. The guests of the link and the editors of its target read it. Returns 403 if the link allows no feedback.',
  example: { body: 'The second one, please.' },
  body: closed({ body: CommentBody, asset_id: Type.Optional(nullable(Uuid)) }),
  errors: [
    'guest-muted',
    'guest-without-name',
    'link-feedback-not-allowed',
    'link-password-required',
    'not-found',
    'too-many-guest-comments',
  ],
});

export const annotateAsGuest = operation({
  ...guestComment,
  id: 'annotateAsGuest',
  path: '/links/{token}/annotations',
  summary: 'Annotate a file at a link',
  description:
    'Comments on a place in a file that the link shows, with a body, a drawing or both. `version` is the one that the link shows; any other returns 404.',
  example: {
    asset_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30',
    anchor: { kind: 'region', x: 0.25, y: 0.4, w: 0.1, h: 0.1 },
    body: 'The horizon tilts here.',
  },
  body: NewAnnotation,
  errors: [
    'anchor-after-end',
    'anchor-of-other-kind',
    'anchor-incomplete',
    'anchor-outside-picture',
    'anchor-reversed',
    'anchor-without-page',
    'annotation-empty',
    'drawing-too-large',
    'guest-muted',
    'guest-without-name',
    'link-feedback-not-allowed',
    'link-password-required',
    'not-found',
    'pressure-out-of-range',
    'too-many-guest-comments',
    'version-not-found',
  ],
});

/** A guest as the editors of the target see them. */
export const GuestRecord = closed({
  ...LinkGuest.properties,
  muted: Type.Boolean(),
  pick_count: Count,
  comment_count: Count,
  /** The latest decision about the target; absent if there is none. */
  decision: Type.Optional(GuestDecision),
  created_at: Timestamp,
});
export type GuestRecord = Static<typeof GuestRecord>;

const forEditors = {
  tag: 'Links',
  door: 'signedIn',
  scope: 'read',
  params: managed,
  errors: ['not-found'],
} as const;

export const listLinkGuests = operation({
  ...forEditors,
  id: 'listLinkGuests',
  method: 'GET',
  path: '/links/{link}/guests',
  summary: 'List the guests of a link',
  description: 'Lists them by the time of their first name, newest first, for the editors of the target.',
  query: closed(pageQuery),
  responses: { 200: page(GuestRecord) },
});

export const updateLinkGuest = operation({
  id: 'updateLinkGuest',
  method: 'PATCH',
  path: '/links/{link}/guests/{guest_id}',
  tag: 'Links',
  summary: 'Mute a guest',
  description:
    'A muted guest can write nothing more at the link. What they have written stays until it is removed. For the editors of the target. Links to assets need the scope `assets.write`, others `posts.write`.',
  door: 'signedIn',
  scope: 'posts.write',
  otherScopes: ['assets.write'],
  params: closed({ link: Uuid, guest_id: Uuid }),
  example: { muted: true },
  body: closed({ muted: Type.Optional(nullable(Type.Boolean())) }),
  responses: { 200: GuestRecord },
  errors: ['not-found'],
});

/** A file in a list for editors of the target. */
const file = {
  asset_id: Uuid,
  /** Null if the caller may not see the asset. */
  title: nullable(Type.String()),
  preview_available: Type.Boolean(),
};

/** A file that a guest picked. */
export const LinkPick = closed({ ...file, guest: LinkGuest, picked_at: Timestamp });
export type LinkPick = Static<typeof LinkPick>;

export const listLinkPicks = operation({
  ...forEditors,
  id: 'listLinkPicks',
  method: 'GET',
  path: '/links/{link}/picks',
  summary: 'List the picks of a link',
  description: 'Lists which guest picked which file, the latest first, for the editors of the target.',
  query: closed(pageQuery),
  responses: { 200: page(LinkPick) },
});

/** What a guest left at a link. */
export const LinkFeedback = closed({
  kind: Type.Enum(['comment', 'annotation', 'decision']),
  id: Uuid,
  guest: LinkGuest,
  /** The file that it is about; absent if it is about the whole target. */
  asset_id: Type.Optional(Uuid),
  /** The title of the file; absent without one, and if the caller may not see it. */
  title: Type.Optional(Type.String()),
  /** The text of a comment, or the note of a decision. */
  body: Type.Optional(Type.String()),
  annotation: Type.Optional(Annotation),
  decision: Type.Optional(GuestDecision),
  created_at: Timestamp,
});
export type LinkFeedback = Static<typeof LinkFeedback>;

export const listLinkFeedback = operation({
  ...forEditors,
  id: 'listLinkFeedback',
  method: 'GET',
  path: '/links/{link}/feedback',
  summary: 'List the feedback of a link',
  description:
    'Lists what guests wrote and decided, the latest first, for the editors of the target. `DELETE /comments/{id}` removes comments and annotations.',
  query: closed(pageQuery),
  responses: { 200: page(LinkFeedback) },
});

const asCsv = {
  ...forEditors,
  method: 'GET',
  description:
    'Returns all rows of the list. A text that a spreadsheet would run as a formula begins with an apostrophe.',
  /** `bom` begins the file with a byte order mark, without which Excel reads it in the encoding of the system. */
  query: closed({ bom: Type.Optional(Type.Boolean()) }),
  responses: { 200: bytes('text/csv') },
} as const;

export const exportLinkFeedback = operation({
  ...asCsv,
  id: 'exportLinkFeedback',
  path: '/links/{link}/feedback.csv',
  summary: 'Export the feedback of a link as CSV',
});

export const exportLinkPicks = operation({
  ...asCsv,
  id: 'exportLinkPicks',
  path: '/links/{link}/picks.csv',
  summary: 'Export the picks of a link as CSV',
});

export const exportLinkViews = operation({
  ...asCsv,
  id: 'exportLinkViews',
  path: '/links/{link}/views.csv',
  summary: 'Export views and downloads of a link as CSV',
});
