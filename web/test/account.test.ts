import { scopes } from '@vitrine/contract/capabilities';
import type { AccountProfile } from '@vitrine/contract/users';
import { describe, expect, it } from 'vitest';
import { languageChoices, languageName } from '#lib/account/languages.ts';
import { draftOf, profilePatch } from '#lib/account/profile-patch.ts';
import { scopeChoices, scopeWords } from '#lib/account/scopes.ts';
import { browserIn } from '#lib/sessions/browser.ts';
import { secondsOf, waitInWords } from '#lib/sign-in/sign-in.ts';
import { dayFieldOf, expiryOf } from '#lib/time/expiry.ts';
import { localeOf, shortDayOf } from '#lib/time/moments.ts';

describe('a user agent in words', () => {
  it.each([
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Firefox/140.0', 'Firefox on Windows'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.4 Safari/605.1.15', 'Safari on macOS'],
    ['Mozilla/5.0 (iPhone; CPU like Mac OS X) Version/18.4 Mobile/15E148 Safari/604.1', 'Safari on iPhone'],
    ['Mozilla/5.0 (iPhone; CPU like Mac OS X) CriOS/137.0 Mobile Safari/604.1', 'Chrome on iPhone'],
    ['Mozilla/5.0 (Windows NT 10.0) Chrome/137.0 Safari/537.36 Edg/137.0', 'Edge on Windows'],
    [
      'Mozilla/5.0 (Linux; Android 15; SM-S931B) SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36',
      'Samsung Internet on Android',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/153.0 Safari/537.36', 'Chrome on Linux'],
    ['Mozilla/5.0 (compatible)', 'A browser'],
    ['curl/8.5.0', 'curl'],
    [null, 'An unknown program'],
  ])('%s', (userAgent, words) => {
    expect(browserIn(userAgent)).toBe(words);
  });
});

it('every scope of a token is offered with its label', () => {
  expect([...scopeChoices].sort()).toEqual([...scopes].sort());
  const labels = scopeChoices.map((scope) => scopeWords[scope].label);
  expect(new Set(labels).size).toBe(scopes.length);
});

describe('how long a token lasts', () => {
  const now = new Date(2026, 2, 10, 15, 30);

  it('is a number of days, or unlimited', () => {
    expect(expiryOf('30', '', now)).toBe(new Date(2026, 3, 9, 15, 30).toISOString());
    expect(expiryOf('365', '', now)).toBe(new Date(2027, 2, 10, 15, 30).toISOString());
    expect(expiryOf('never', '', now)).toBeNull();
  });

  it('includes the whole chosen day in local time', () => {
    expect(expiryOf('date', '2026-03-10', now)).toBe(new Date(2026, 2, 10, 23, 59, 59).toISOString());
    expect(dayFieldOf(now)).toBe('2026-03-10');
  });

  it('is refused for a past or missing day', () => {
    for (const day of ['2026-03-09', '', 'soon', '2026-13-01'])
      expect(expiryOf('date', day, now)).toBeUndefined();
  });
});

describe('a changed profile', () => {
  const profile: AccountProfile = {
    ref: 1,
    username: 'ana',
    display_name: 'Ana',
    fullname: null,
    email: 'ana@example.org',
    pending_email: null,
    bio: 'Paints.',
    hide_from_anonymous: false,
    avatar_asset_id: null,
    avatar_url: null,
    banner_asset_id: null,
    links: [{ label: 'Home', url: 'https://ana.example' }],
    provider: 'password',
    created_at: '2026-01-02T03:04:05.000Z',
  };

  it('sends nothing without changes', () => {
    expect(profilePatch(profile, draftOf(profile))).toEqual({});
    expect(profilePatch(profile, { ...draftOf(profile), fullname: '  ' })).toEqual({});
  });

  it('sends changed values and clears emptied ones', () => {
    const texts = { display_name: ' ', fullname: ' Ana Ruiz ', email: '', bio: '' };
    const links = [{ label: ' Shop ', url: 'https://ana.example/shop ' }];
    expect(profilePatch(profile, { ...texts, hide_from_anonymous: true, links })).toEqual({
      clear_display_name: true,
      fullname: 'Ana Ruiz',
      clear_email: true,
      bio: '',
      hide_from_anonymous: true,
      links: [{ label: 'Shop', url: 'https://ana.example/shop' }],
    });
  });
});

it('languages are named natively, and unknown tags are accepted', () => {
  expect(languageName('de')).toBe('Deutsch');
  expect(languageName('aa-a')).toBe('aa-a');
  expect(languageChoices('cy').at(-1)).toEqual({ value: 'cy', label: 'Cymraeg' });
  expect(localeOf('')).toBe('en');
  expect(localeOf('aa-a')).toBe('en');
  expect(shortDayOf('2026-05-03T12:00:00.000Z', 'de')).toBe('03.05.2026');
});

it('reads the delay before another sign-in', () => {
  expect(['41', null, 'Wed, 21 Oct 2026 07:28:00 GMT'].map(secondsOf)).toEqual([41, undefined, undefined]);
  expect([1, 41, 60, 61].map(waitInWords)).toEqual(['a second', '41 seconds', 'a minute', '2 minutes']);
});
