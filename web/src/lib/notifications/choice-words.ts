import {
  type NotificationKind,
  type NotificationPreferences,
  renamedZones,
} from '@vitrine/contract/notifications';

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

/** The hours of the day, on the clock of the chosen zone. */
export const hourChoices = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));

/** The zone of this device; `UTC` where the browser does not say. */
export function zoneHere(): string {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone ? (renamedZones[zone] ?? zone) : 'UTC';
}

/** Whose clock counts: the kept zone, this device's and UTC, each once. */
export function zoneChoices(kept: string, here: string): { value: string; label: string }[] {
  return [...new Set([kept, here, 'UTC'])].map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' ') + (zone === here ? ' (this device)' : ''),
  }));
}
