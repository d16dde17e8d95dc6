import type { NotificationKind, NotificationPreferences } from '@vitrine/contract/notifications';
import { renamedZones } from '@vitrine/contract/time-zones';
import { locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';

/** Labels of the kinds of notification, most important first. */
export const kindWords: readonly {
  readonly kind: NotificationKind;
  readonly label: string;
  readonly hint: string;
}[] = [
  { kind: 'request_received', label: 'Requests', hint: 'Someone sends a request that you can decide.' },
  {
    kind: 'request_decided',
    label: 'Answers to your requests',
    hint: 'Your request was granted or denied.',
  },
  {
    kind: 'deletion_requested',
    label: 'Requests to delete accounts',
    hint: 'Someone asks to have their account deleted, and you can decide it.',
  },
  {
    kind: 'deletion_decided',
    label: 'Your request to delete your account',
    hint: 'It was refused.',
  },
  {
    kind: 'publish_failed',
    label: 'Drafts that were not published',
    hint: 'Your draft could not be published at the time that was set for it.',
  },
  {
    kind: 'review_requested',
    label: 'Reviews you are asked for',
    hint: 'Someone asks you to review a post.',
  },
  {
    kind: 'review_decided',
    label: 'Decisions in your reviews',
    hint: 'A reviewer approves your post or requests changes.',
  },
  {
    kind: 'review_reopened',
    label: 'Reviews that start again',
    hint: 'A post has changed since you reviewed it.',
  },
  { kind: 'review_due', label: 'Reminders of reviews', hint: 'A review is due in a day, or overdue.' },
  { kind: 'state_changed', label: 'States of your files', hint: 'Someone moves your file to another state.' },
  { kind: 'assigned', label: 'Annotations for you', hint: 'Someone assigns an annotation to you.' },
  {
    kind: 'guest_feedback',
    label: 'Feedback from guests',
    hint: 'Guests comment, pick or decide at a link that you made.',
  },
  { kind: 'mention', label: 'Mentions', hint: 'Someone writes @ and your username.' },
  { kind: 'reply', label: 'Replies', hint: 'Someone replies to your comment.' },
  { kind: 'comment', label: 'Comments on your posts', hint: 'Someone comments on your post.' },
  {
    kind: 'watched_comment',
    label: 'Comments on posts you watch',
    hint: 'You watch a post after commenting on it or pressing Watch.',
  },
  {
    kind: 'team_member_added',
    label: 'New members of your teams',
    hint: 'Someone adds a person, or you, to a team you belong to.',
  },
  { kind: 'follow', label: 'Followers', hint: 'Someone starts following you.' },
  { kind: 'like', label: 'Likes', hint: 'Someone likes your post. Several likes are combined.' },
];

type MailChoice = NotificationPreferences['kinds'][NotificationKind]['mail'];

export const mailChoices: readonly { readonly value: MailChoice; readonly label: string }[] = [
  { value: 'off', label: 'No mail' },
  { value: 'now', label: 'Mail immediately' },
  { value: 'digest', label: 'In the digest' },
];

export const everyChoices = [
  { value: 'day', label: 'Every day' },
  { value: 'week', label: 'Every week' },
] as const;

/** Monday is 1, as in the service. */
export const weekdayChoices = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
].map((label, index) => ({ value: String(index + 1), label }));

/** Returns the hours of the day in the chosen time zone. */
export const hourChoices = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));

/** Returns the time zone of this device; `UTC` if the browser does not know it. */
export function zoneHere(): string {
  const zone = new Intl.DateTimeFormat(locale()).resolvedOptions().timeZone;
  return zone ? (renamedZones[zone] ?? zone) : 'UTC';
}

/** Returns the time zones to choose from: the stored one, that of this device, and UTC, without duplicates. */
export function zoneChoices(kept: string, here: string): { value: string; label: string }[] {
  return [...new Set([kept, here, 'UTC'])].map((zone) => {
    const name = zone.replaceAll('_', ' ');
    return { value: zone, label: zone === here ? phrase(`${name} (this device)`) : name };
  });
}
