import type { Notification } from '@vitrine/contract/notifications';
import { ACCESS_MARKER, RESTORE_MARKER } from '../../access/requests.ts';
import type { LetterItem } from '../mail/letter.ts';

/** A code other than a marker is named, because it gives more than access to one thing (REQUEST-6). */
function whatIsAsked(code: string | undefined, asked: string): string {
  if (code === RESTORE_MARKER) return `asks to have ${asked} restored`;
  return code === undefined || code === ACCESS_MARKER
    ? `asks for access to ${asked}`
    : `asks for the capability ${code}, naming ${asked}`;
}

/** Returns a notification as a sentence, from what its recipient may see. */
export function sentenceOf(notification: Notification): string {
  const { kind, actor, actor_count, post, request, review, team, member, asset, state, link } = notification;
  const who = actor?.display_name ?? 'Someone';
  const title = post?.title.trim() ? `“${post.title.trim()}”` : 'a post';
  const kindOfThing = { asset: 'an asset', post: 'a post', collection: 'a collection' }[
    request?.target_kind ?? 'asset'
  ];
  const asked = request?.title?.trim() ? `“${request.title.trim()}”` : kindOfThing;
  switch (kind) {
    case 'request_received':
      return `${who} ${whatIsAsked(request?.requested_capability, asked)}`;
    case 'request_decided':
      return `Your request about ${asked} was ${request?.state ?? 'decided'}`;
    case 'comment':
      return `${who} commented on your post ${title}`;
    case 'reply':
      return `${who} replied to your comment on ${title}`;
    case 'watched_comment':
      return `${who} commented on ${title}`;
    case 'mention':
      return `${who} mentioned you in ${title}`;
    case 'follow':
      return `${who} started following you`;
    case 'team_member_added':
      return `${who} added ${member?.display_name ?? 'someone'} to the team ${team?.name ?? ''}`.trimEnd();
    case 'publish_failed':
      return `Your draft ${post?.title.trim() ? title : 'without a title'} was not published at its time`;
    case 'review_requested':
      return `${who} asks you to review ${title}`;
    case 'review_decided':
      return review?.decision === 'changes_requested'
        ? `${who} requested changes to ${title}`
        : `${who} approved ${title}`;
    case 'review_reopened':
      return `${title} has changed since you reviewed it`;
    case 'review_due':
      return `The review of ${title} ${review?.due_at != null && Date.parse(review.due_at) < Date.now() ? 'is overdue' : 'is due soon'}`;
    case 'state_changed':
      return `${who} moved ${asset?.title.trim() ? `“${asset.title.trim()}”` : 'an asset'} to ${state?.label ?? 'another state'}`;
    case 'assigned':
      return `${who} assigned an annotation in ${title} to you`;
    case 'guest_feedback':
      return `Guests left feedback at your link ${link?.label.trim() ? `“${link.label.trim()}”` : 'without a label'}`;
    case 'deletion_requested':
      return `${who} asks to have their account deleted`;
    case 'deletion_decided':
      return 'Your request to delete your account was refused';
    case 'like': {
      const others = actor_count - 1;
      const all = others < 1 ? who : `${who} and ${others} other${others === 1 ? '' : 's'}`;
      return `${all} liked your post ${title}`;
    }
  }
}

/** Returns the path of the page of its target. */
export function pathOf(notification: Notification): string {
  const { post, comment, request, review, asset, actor, team, link, kind } = notification;
  if (link !== undefined) return `/links/${link.id}`;
  if (asset !== undefined) return `/assets/${asset.id}`;
  if (review !== undefined) return `/reviews/${review.id}`;
  if (post !== undefined) return `/posts/${post.id}${comment === undefined ? '' : `#comment-${comment.id}`}`;
  if (request !== undefined) return '/requests';
  if (team !== undefined) return `/teams/${team.id}`;
  if (kind === 'deletion_requested') return '/admin/deletions';
  if (kind === 'deletion_decided') return '/settings/data';
  return kind === 'follow' && actor !== undefined
    ? `/users/${encodeURIComponent(actor.username)}`
    : '/notifications';
}

export function itemOf(notification: Notification, baseUrl: string | null): LetterItem {
  return {
    text: sentenceOf(notification),
    quote: notification.comment?.excerpt ?? null,
    link: baseUrl === null ? null : `${baseUrl}${pathOf(notification)}`,
  };
}
