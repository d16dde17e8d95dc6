import type { NotificationKind, NotificationPreferences } from '@vitrine/contract/notifications';
import { hourOf } from '../time/moments.ts';

/** What one can be told of, most pressing first. */
export const kindWords: readonly {
  readonly kind: NotificationKind;
  readonly label: string;
  readonly hint: string;
}[] = [
  { kind: 'request_received', label: 'Requests', hint: 'Somebody asks for something that you decide.' },
  {
    kind: 'request_decided',
    label: 'Answers to your requests',
    hint: 'What you asked for was granted or denied.',
  },
  { kind: 'mention', label: 'Mentions', hint: 'Somebody writes @ and your username.' },
  { kind: 'reply', label: 'Replies', hint: 'Somebody answers a comment of yours.' },
  { kind: 'comment', label: 'Comments on your posts', hint: 'Somebody writes below a post of yours.' },
  {
    kind: 'watched_comment',
    label: 'Comments on posts you watch',
    hint: 'You watch a post once you comment on it, or by its Watch button.',
  },
  { kind: 'follow', label: 'Followers', hint: 'Somebody begins to follow you.' },
  { kind: 'like', label: 'Likes', hint: 'Somebody likes a post of yours. Several are told together.' },
];

type MailChoice = NotificationPreferences['kinds'][NotificationKind]['mail'];

export const mailChoices: readonly { readonly value: MailChoice; readonly label: string }[] = [
  { value: 'off', label: 'No mail' },
  { value: 'now', label: 'Mail at once' },
  { value: 'digest', label: 'In the digest' },
];

export const everyChoices = [
  { value: 'day', label: 'Every day' },
  { value: 'week', label: 'Every week' },
] as const;

/** Monday is 1, as the service counts. */
export const weekdayChoices = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
].map((label, index) => ({ value: String(index + 1), label }));

/** The hours of the day, which are UTC, with the reader's own beside them where it is another. */
export function hourChoices(now: Date, language?: string): { value: string; label: string }[] {
  return Array.from({ length: 24 }, (_, hour) => {
    const moment = new Date(now);
    moment.setUTCHours(hour, 0, 0, 0);
    const here = moment.getHours() === hour && moment.getMinutes() === 0;
    const label = `${String(hour).padStart(2, '0')}:00 UTC`;
    return {
      value: String(hour),
      label: here ? label : `${label}, ${hourOf(moment.toISOString(), language)} here`,
    };
  });
}
