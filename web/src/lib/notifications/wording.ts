import type { Notification } from '@vitrine/contract/notifications';
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

function named(request: Notification['request']): string {
  const kind = request?.target_kind ?? 'file';
  return kind === 'asset' ? 'an asset' : `a ${kind}`;
}

const decided: Readonly<Record<string, string>> = {
  granted: ' was granted',
  denied: ' was denied',
  expired: ' has ended',
  pending: ' is waiting again',
};

/** Describes a notification in a sentence, using only what its recipient may see. */
export function sentenceOf(notification: Notification): Piece[] {
  const { kind, actor, actor_count, post, request, review, team, member, asset, state, link } = notification;
  const who = actor === undefined ? plain('Someone') : strong(actor.display_name);
  const title = titleOf(post?.title, 'a post');
  const own = titleOf(post?.title, 'without a title');
  switch (kind) {
    case 'request_received': {
      const asked = titleOf(request?.title, named(request));
      const ask = request === undefined ? 'access' : requestKindOf(request);
      if (ask === 'access') return [who, plain(' asks to see '), asked];
      return ask === 'restore'
        ? [who, plain(' asks to have '), asked, plain(' back from the trash')]
        : [who, plain(' asks for a capability, naming '), asked];
    }
    case 'request_decided': {
      const asked = titleOf(request?.title, named(request));
      return [plain('What you asked about '), asked, plain(decided[request?.state ?? ''] ?? ' was decided')];
    }
    case 'comment':
      return [who, plain(' commented on your post '), own];
    case 'reply':
      return [who, plain(' replied to you on '), title];
    case 'watched_comment':
      return [who, plain(' commented on '), title];
    case 'mention':
      return [who, plain(' mentioned you in '), title];
    case 'follow':
      return [who, plain(' started following you')];
    case 'team_member_added':
      return [
        who,
        plain(' added '),
        member === undefined ? plain('someone') : strong(member.display_name),
        plain(' to the team '),
        strong(team?.name ?? ''),
      ];
    case 'publish_failed':
      return [plain('Your draft '), own, plain(' was not published at its time')];
    case 'review_requested':
      return [who, plain(' asks you to review '), title];
    case 'review_decided':
      return review?.decision === 'changes_requested'
        ? [who, plain(' requested changes to '), title]
        : [who, plain(' approved '), title];
    case 'review_reopened':
      return [title, plain(' has changed since you reviewed it')];
    case 'state_changed':
      return [
        who,
        plain(' moved '),
        titleOf(asset?.title, 'an asset'),
        plain(' to '),
        strong(state?.label ?? 'another state'),
      ];
    case 'assigned':
      return [who, plain(' assigned an annotation in '), title, plain(' to you')];
    case 'guest_feedback':
      return [plain('Guests left feedback at your link '), titleOf(link?.label, 'without a label')];
    case 'deletion_requested':
      return [who, plain(' asks to have their account deleted')];
    case 'deletion_decided':
      return [plain('Your request to delete your account was refused')];
    case 'review_due': {
      const isPast = review?.due_at != null && Date.parse(review.due_at) < Date.now();
      return [plain('The review of '), title, plain(isPast ? ' is overdue' : ' is due soon')];
    }
    case 'like': {
      const others = actor_count - 1;
      const more = others < 1 ? [] : [plain(` and ${others === 1 ? 'one other' : `${others} others`}`)];
      return [who, ...more, plain(actor_count > 1 ? ' like your post ' : ' likes your post '), own];
    }
  }
}

/** Returns the address of a notification. `decidesAll`: whether the reader has a queue with everyone's requests. */
export function placeOf(notification: Notification, decidesAll = false): string {
  const { kind, post, comment, request, review, asset, actor, team, link } = notification;
  if (link !== undefined) return `/links/${link.id}`;
  if (asset !== undefined) return `/assets/${asset.id}`;
  if (review !== undefined) return `/reviews/${review.id}`;
  if (post !== undefined && kind === 'publish_failed') return `/posts/${post.id}/edit`;
  if (post !== undefined) return `/posts/${post.id}${comment === undefined ? '' : `#comment-${comment.id}`}`;
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
