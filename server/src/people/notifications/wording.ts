import type { Language } from '@vitrine/contract/languages';
import type { Notification } from '@vitrine/contract/notifications';
import { ACCESS_MARKER, RESTORE_MARKER } from '../../access/requests.ts';
import { say, sayCount } from '../../platform/language/say.ts';
import type { LetterItem } from '../mail/letter.ts';

/** Returns the trimmed title; an empty text without one. */
const titleOf = (thing: { title?: string } | undefined) => thing?.title?.trim() ?? '';

/** A sentence in a language; `who` acts. */
type Sentence = (language: Language, notification: Notification, who: string) => string;

const asksForAccess: Sentence = (language, { request }, who) => {
  const title = titleOf(request);
  if (title !== '') return say(language, '{who} asks for access to “{title}”', { who, title });
  if (request?.target_kind === 'post') return say(language, '{who} asks for access to a post', { who });
  return request?.target_kind === 'collection'
    ? say(language, '{who} asks for access to a collection', { who })
    : say(language, '{who} asks for access to an asset', { who });
};

const asksForRestore: Sentence = (language, { request }, who) => {
  const title = titleOf(request);
  if (title !== '') return say(language, '{who} asks to have “{title}” restored', { who, title });
  if (request?.target_kind === 'post') return say(language, '{who} asks to have a post restored', { who });
  return request?.target_kind === 'collection'
    ? say(language, '{who} asks to have a collection restored', { who })
    : say(language, '{who} asks to have an asset restored', { who });
};

/** A code other than a marker is named, because it gives more than access to one thing (REQUEST-6). */
const asksForCapability: Sentence = (language, { request }, who) => {
  const title = titleOf(request);
  const code = request?.requested_capability ?? '';
  return title === ''
    ? say(language, '{who} asks for the capability {code}', { who, code })
    : say(language, '{who} asks for the capability {code}, naming “{title}”', { who, code, title });
};

const asks: Sentence = (language, notification, who) => {
  const code = notification.request?.requested_capability;
  if (code === RESTORE_MARKER) return asksForRestore(language, notification, who);
  const asksAccess = code === undefined || code === ACCESS_MARKER;
  return (asksAccess ? asksForAccess : asksForCapability)(language, notification, who);
};

const decided: Sentence = (language, { request }) => {
  const title = titleOf(request);
  switch (request?.state) {
    case 'granted':
      return title === ''
        ? say(language, 'Your request was granted')
        : say(language, 'Your request about “{title}” was granted', { title });
    case 'denied':
      return title === ''
        ? say(language, 'Your request was denied')
        : say(language, 'Your request about “{title}” was denied', { title });
    case 'expired':
      return title === ''
        ? say(language, 'Your request has expired')
        : say(language, 'Your request about “{title}” has expired', { title });
    default:
      return title === ''
        ? say(language, 'Your request was decided')
        : say(language, 'Your request about “{title}” was decided', { title });
  }
};

const movesAsset: Sentence = (language, { asset, state }, who) => {
  const title = titleOf(asset);
  const label = state?.label;
  if (label === undefined)
    return title === ''
      ? say(language, '{who} moved an asset to another state', { who })
      : say(language, '{who} moved “{title}” to another state', { who, title });
  return title === ''
    ? say(language, '{who} moved an asset to the state {label}', { who, label })
    : say(language, '{who} moved “{title}” to the state {label}', { who, title, label });
};

const addsMember: Sentence = (language, { team, member }, who) => {
  const name = team?.name ?? '';
  return member === undefined
    ? say(language, '{who} added someone to the team {name}', { who, name })
    : say(language, '{who} added {member} to the team {name}', { who, member: member.display_name, name });
};

const reviewDue: Sentence = (language, { review, post }) => {
  const title = titleOf(post);
  const isPast = review?.due_at != null && Date.parse(review.due_at) < Date.now();
  if (title === '')
    return isPast ? say(language, 'A review is overdue') : say(language, 'A review is due soon');
  return isPast
    ? say(language, 'The review of “{title}” is overdue', { title })
    : say(language, 'The review of “{title}” is due soon', { title });
};

const reviewDecided: Sentence = (language, { review, post }, who) => {
  const title = titleOf(post);
  if (review?.decision === 'changes_requested')
    return title === ''
      ? say(language, '{who} requested changes to a post', { who })
      : say(language, '{who} requested changes to “{title}”', { who, title });
  return title === ''
    ? say(language, '{who} approved a post', { who })
    : say(language, '{who} approved “{title}”', { who, title });
};

const guestFeedback: Sentence = (language, { link }) => {
  const label = link?.label.trim() ?? '';
  return label === ''
    ? say(language, 'Guests left feedback at your link without a label')
    : say(language, 'Guests left feedback at your link “{label}”', { label });
};

const likes: Sentence = (language, { actor_count, post }, who) => {
  const title = titleOf(post);
  const others = actor_count - 1;
  if (others < 1)
    return title === ''
      ? say(language, '{who} liked a post of yours', { who })
      : say(language, '{who} liked your post “{title}”', { who, title });
  return title === ''
    ? sayCount(
        language,
        others,
        ['{who} and # other liked a post of yours', '{who} and # others liked a post of yours'],
        { who },
      )
    : sayCount(
        language,
        others,
        ['{who} and # other liked your post “{title}”', '{who} and # others liked your post “{title}”'],
        { who, title },
      );
};

const sentences: Readonly<Record<Notification['kind'], Sentence>> = {
  request_received: asks,
  request_decided: decided,
  comment: (language, { post }, who) =>
    titleOf(post) === ''
      ? say(language, '{who} commented on a post of yours', { who })
      : say(language, '{who} commented on your post “{title}”', { who, title: titleOf(post) }),
  reply: (language, { post }, who) =>
    titleOf(post) === ''
      ? say(language, '{who} replied to your comment', { who })
      : say(language, '{who} replied to your comment on “{title}”', { who, title: titleOf(post) }),
  watched_comment: (language, { post }, who) =>
    titleOf(post) === ''
      ? say(language, '{who} commented on a post', { who })
      : say(language, '{who} commented on “{title}”', { who, title: titleOf(post) }),
  mention: (language, { post }, who) =>
    titleOf(post) === ''
      ? say(language, '{who} mentioned you in a post', { who })
      : say(language, '{who} mentioned you in “{title}”', { who, title: titleOf(post) }),
  follow: (language, _, who) => say(language, '{who} started following you', { who }),
  team_member_added: addsMember,
  publish_failed: (language, { post }) =>
    titleOf(post) === ''
      ? say(language, 'Your draft without a title was not published at its time')
      : say(language, 'Your draft “{title}” was not published at its time', { title: titleOf(post) }),
  review_requested: (language, { post }, who) =>
    titleOf(post) === ''
      ? say(language, '{who} asks you to review a post', { who })
      : say(language, '{who} asks you to review “{title}”', { who, title: titleOf(post) }),
  review_decided: reviewDecided,
  review_reopened: (language, { post }) =>
    titleOf(post) === ''
      ? say(language, 'A post has changed since you reviewed it')
      : say(language, '“{title}” has changed since you reviewed it', { title: titleOf(post) }),
  review_due: reviewDue,
  state_changed: movesAsset,
  assigned: (language, { post }, who) =>
    titleOf(post) === ''
      ? say(language, '{who} assigned an annotation in a post to you', { who })
      : say(language, '{who} assigned an annotation in “{title}” to you', { who, title: titleOf(post) }),
  guest_feedback: guestFeedback,
  deletion_requested: (language, _, who) =>
    say(language, '{who} asks to have their account deleted', { who }),
  deletion_decided: (language) => say(language, 'Your request to delete your account was refused'),
  like: likes,
};

/** Returns a notification as a sentence in the recipient's language, from what the recipient may see (LANGUAGE-4). */
export function sentenceOf(language: Language, notification: Notification): string {
  const who = notification.actor?.display_name ?? say(language, 'Someone');
  return sentences[notification.kind](language, notification, who);
}

/** Returns the path of the page of its target. */
export function pathOf(notification: Notification): string {
  const { post, comment, request, review, asset, actor, team, link, kind } = notification;
  const place = comment === undefined ? '' : `#comment-${comment.id}`;
  if (link !== undefined) return `/links/${link.id}`;
  if (asset !== undefined) return `/assets/${asset.id}`;
  if (review !== undefined) return `/reviews/${review.id}${place}`;
  if (post !== undefined) return `/posts/${post.id}${place}`;
  if (request !== undefined) return '/requests';
  if (team !== undefined) return `/teams/${team.id}`;
  if (kind === 'deletion_requested') return '/admin/deletions';
  if (kind === 'deletion_decided') return '/settings/data';
  return kind === 'follow' && actor !== undefined
    ? `/users/${encodeURIComponent(actor.username)}`
    : '/notifications';
}

export function itemOf(language: Language, notification: Notification, baseUrl: string | null): LetterItem {
  return {
    text: sentenceOf(language, notification),
    quote: notification.comment?.excerpt ?? null,
    link: baseUrl === null ? null : `${baseUrl}${pathOf(notification)}`,
  };
}
