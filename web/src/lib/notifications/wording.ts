import type { Notification } from '@vitrine/contract/notifications';
import { partsOf, places } from '#lib/languages/parts.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';
import { userPage } from '#lib/page-addresses.ts';
import { queueAddress } from '#lib/requests/queue.ts';
import { requestKindOf } from '#lib/requests/wording.ts';

/** A part of a sentence; names and titles are emphasised. */
export interface Piece {
  readonly text: string;
  readonly strong?: boolean;
}

const strong = (text: string): Piece => ({ text, strong: true });
const plain = (text: string): Piece => ({ text });

function titleOf(title: string | undefined, otherwise: string): Piece {
  const words = title?.trim() ?? '';
  return words === '' ? plain(otherwise) : strong(words);
}

const targets = {
  asset: phrase('an asset'),
  post: phrase('a post'),
  collection: phrase('a collection'),
} as const;

function askedIn(request: Notification['request']): Piece {
  const kind = request?.target_kind;
  return titleOf(request?.title, kind === undefined ? phrase('a file') : targets[kind]);
}

/** The places of the actor, of the object, and of a second object, such as the team that a person is added to. */
const [who, what, other] = places;

const decided: Readonly<Record<string, string>> = {
  granted: `What you asked about ${what} was granted`,
  denied: `What you asked about ${what} was denied`,
  expired: `What you asked about ${what} has ended`,
  pending: `What you asked about ${what} is waiting again`,
};

/** A sentence, and what its places show. */
interface Said {
  readonly sentence: string;
  readonly about?: Piece;
  readonly beside?: Piece;
}

function asks(request: Notification['request']): string {
  const ask = request === undefined ? 'access' : requestKindOf(request);
  if (ask === 'access') return `${who} asks to see ${what}`;
  return ask === 'restore'
    ? `${who} asks to have ${what} back from the trash`
    : `${who} asks for a capability, naming ${what}`;
}

function likes(people: number): string {
  if (people < 2) return `${who} likes your post ${what}`;
  const others = plural(people - 1, ['one other', '# others']);
  return `${who} and ${others} like your post ${what}`;
}

function saidOf(notification: Notification): Said {
  const { kind, actor_count, post, request, review, team, member, asset, state, link } = notification;
  const about = titleOf(post?.title, phrase('a post'));
  const own = titleOf(post?.title, phrase('without a title'));
  switch (kind) {
    case 'request_received':
      return { sentence: asks(request), about: askedIn(request) };
    case 'request_decided': {
      const sentence = decided[request?.state ?? ''] ?? `What you asked about ${what} was decided`;
      return { sentence, about: askedIn(request) };
    }
    case 'comment':
      return { sentence: `${who} commented on your post ${what}`, about: own };
    case 'reply':
      return { sentence: `${who} replied to you on ${what}`, about };
    case 'watched_comment':
      return { sentence: `${who} commented on ${what}`, about };
    case 'mention':
      return { sentence: `${who} mentioned you in ${what}`, about };
    case 'follow':
      return { sentence: `${who} started following you` };
    case 'team_member_added':
      return {
        sentence: `${who} added ${what} to the team ${other}`,
        about: member === undefined ? plain(phrase('someone')) : strong(member.display_name),
        beside: strong(team?.name ?? ''),
      };
    case 'publish_failed':
      return { sentence: `Your draft ${what} was not published at its time`, about: own };
    case 'review_requested':
      return { sentence: `${who} asks you to review ${what}`, about };
    case 'review_decided':
      return review?.decision === 'changes_requested'
        ? { sentence: `${who} requested changes to ${what}`, about }
        : { sentence: `${who} approved ${what}`, about };
    case 'review_reopened':
      return { sentence: `${what} has changed since you reviewed it`, about };
    case 'state_changed':
      return {
        sentence: `${who} moved ${what} to ${other}`,
        about: titleOf(asset?.title, phrase('an asset')),
        beside: strong(state?.label ?? phrase('another state')),
      };
    case 'assigned':
      return { sentence: `${who} assigned an annotation in ${what} to you`, about };
    case 'guest_feedback':
      return {
        sentence: `Guests left feedback at your link ${what}`,
        about: titleOf(link?.label, phrase('without a label')),
      };
    case 'deletion_requested':
      return { sentence: `${who} asks to have their account deleted` };
    case 'deletion_decided':
      return { sentence: 'Your request to delete your account was refused' };
    case 'review_due': {
      const isPast = review?.due_at != null && Date.parse(review.due_at) < Date.now();
      return {
        sentence: isPast ? `The review of ${what} is overdue` : `The review of ${what} is due soon`,
        about,
      };
    }
    case 'like':
      return { sentence: likes(actor_count), about: own };
  }
}

/** Describes a notification in a sentence, using only what its recipient may see. */
export function sentenceOf(notification: Notification): Piece[] {
  const { sentence, about = plain(''), beside = plain('') } = saidOf(notification);
  const { actor } = notification;
  const person = actor === undefined ? plain('Someone') : strong(actor.display_name);
  return partsOf(sentence, { [who]: person, [what]: about, [other]: beside }, plain);
}

/** Returns the address of a notification. `decidesAll`: whether the reader has a queue with everyone's requests. */
export function placeOf(notification: Notification, decidesAll = false): string {
  const { kind, post, comment, request, review, asset, actor, team, link } = notification;
  const place = comment === undefined ? '' : `#comment-${comment.id}`;
  if (link !== undefined) return `/links/${link.id}`;
  if (asset !== undefined) return `/assets/${asset.id}`;
  if (review !== undefined) return `/reviews/${review.id}${place}`;
  if (post !== undefined && kind === 'publish_failed') return `/posts/${post.id}/edit`;
  if (post !== undefined) return `/posts/${post.id}${place}`;
  if (request !== undefined || kind === 'request_received' || kind === 'request_decided') {
    return queueAddress(kind === 'request_decided' ? 'mine' : decidesAll ? 'all' : 'incoming', '');
  }
  if (kind === 'deletion_requested') return '/admin/deletions';
  if (kind === 'deletion_decided') return '/settings/data';
  if (team !== undefined) return `/teams/${team.id}`;
  return actor === undefined ? '/notifications' : userPage(actor);
}

/** Formats the count for a badge. */
export function countOf(unread: number): string {
  return unread > 99 ? '99+' : String(unread);
}

/** Returns the title of a page with the count in front. */
export function titleWithCount(title: string, unread: number): string {
  return unread === 0 ? title : `(${countOf(unread)}) ${title}`;
}
