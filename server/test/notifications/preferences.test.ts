import { describe, expect, test } from 'vitest';
import { openLibrary } from '../support/library.ts';
import { comment, news, publisher } from './telling.ts';

const library = await openLibrary();
const [author, other] = await library.joinAll('author', 'other');

// NOTICE-10
describe('notification preferences', () => {
  test('have every kind turned on by default', async () => {
    expect(await author.ok('getNotificationPreferences')).toEqual({
      mail_enabled: true,
      kinds: {
        request_received: { in_app: true, mail: 'now' },
        request_decided: { in_app: true, mail: 'now' },
        comment: { in_app: true, mail: 'digest' },
        reply: { in_app: true, mail: 'now' },
        watched_comment: { in_app: true, mail: 'digest' },
        like: { in_app: true, mail: 'off' },
        follow: { in_app: true, mail: 'off' },
        mention: { in_app: true, mail: 'now' },
        team_member_added: { in_app: true, mail: 'digest' },
        publish_failed: { in_app: true, mail: 'now' },
        review_requested: { in_app: true, mail: 'now' },
        review_decided: { in_app: true, mail: 'now' },
        review_reopened: { in_app: true, mail: 'now' },
        review_due: { in_app: true, mail: 'now' },
        state_changed: { in_app: true, mail: 'digest' },
        assigned: { in_app: true, mail: 'now' },
        guest_feedback: { in_app: true, mail: 'digest' },
        deletion_requested: { in_app: true, mail: 'now' },
        deletion_decided: { in_app: true, mail: 'now' },
      },
      digest: { every: 'day', hour: 8, weekday: 1, time_zone: 'UTC' },
    });
  });

  // NOTICE-10
  test('are changed per kind; absent and null change nothing', async () => {
    const before = await author.ok('getNotificationPreferences');
    const digest = { every: 'week', hour: 0, weekday: 7 } as const;
    const like = { in_app: false, mail: 'digest' } as const;
    await author.ok('updateNotificationPreferences', { body: { kinds: { like } } });
    await author.ok('updateNotificationPreferences', { body: { digest, kinds: null, mail_enabled: null } });
    const changed = await author.ok('updateNotificationPreferences', { body: {} });
    expect(changed).toEqual({
      ...before,
      digest: { ...digest, time_zone: 'UTC' },
      kinds: { ...before.kinds, like },
    });
    expect(await author.ok('getNotificationPreferences')).toEqual(changed);
  });

  test('keep the time zone until another is set', async () => {
    const walker = await library.join('walker');
    const choose = async (more: { time_zone?: string | null }) => {
      const digest = { every: 'day', hour: 7, weekday: 1, ...more } as const;
      return (await walker.ok('updateNotificationPreferences', { body: { digest } })).digest.time_zone;
    };
    for (const time_zone of ['Asia/Kathmandu', 'America/Argentina/Buenos_Aires', 'UTC'])
      expect(await choose({ time_zone })).toBe(time_zone);
    // Browsers still send the former name.
    expect(await choose({ time_zone: 'Asia/Calcutta' })).toBe('Asia/Kolkata');
    for (const more of [{ time_zone: 'Europe/Berlin' }, {}, { time_zone: null }])
      expect(await choose(more)).toBe('Europe/Berlin');
  });

  // NOTICE-10
  test('return 400 for an unknown time zone and change nothing', async () => {
    const before = await author.ok('getNotificationPreferences');
    const zones = ['Mars/Olympus', 'Europe', '+01:00', 'FOO+3', 'Europe/Berlin ', '../etc', ''];
    for (const time_zone of zones) {
      const body = { digest: { every: 'day', hour: 7, weekday: 1, time_zone } };
      const status = await author.status('PATCH', '/account/notification-preferences', body);
      expect([time_zone, status]).toEqual([time_zone, 400]);
    }
    expect(await author.ok('getNotificationPreferences')).toEqual(before);
  });

  test('keep both of two concurrent changes', async () => {
    const kinds = ['comment', 'reply', 'follow', 'mention'] as const;
    const off = { in_app: true, mail: 'off' } as const;
    await Promise.all(
      kinds.map((kind) => other.ok('updateNotificationPreferences', { body: { kinds: { [kind]: off } } })),
    );
    const chosen = (await other.ok('getNotificationPreferences')).kinds;
    expect(kinds.map((kind) => chosen[kind].mail)).toEqual(['off', 'off', 'off', 'off']);
  });

  // NOTICE-2, NOTICE-10
  test('skip a kind that is off, and use the next reason for the same event', async () => {
    const reader = await library.join('reader');
    const post = await publisher(reader)({ title: 'T' });
    const none = { in_app: false, mail: 'off' } as const;
    await reader.ok('updateNotificationPreferences', { body: { kinds: { comment: none } } });
    await comment(other, post, 'a word');
    expect(await news(library, reader)).toEqual([]);
    await comment(other, post, 'a word, @reader');
    await reader.ok('updateNotificationPreferences', { body: { kinds: { mention: none } } });
    expect(await news(library, reader)).toEqual([]);
    const shown = { in_app: true, mail: 'off' } as const;
    await reader.ok('updateNotificationPreferences', { body: { kinds: { comment: shown } } });
    await comment(other, post, 'again, @reader');
    expect(await news(library, reader)).toEqual(['comment other T']);
  });
});
