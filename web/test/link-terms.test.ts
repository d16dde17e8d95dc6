import type { ShareLink } from '@vitrine/contract/links';
import { describe, expect, it } from 'vitest';
import { isWiderThan } from '#lib/audience/words.ts';
import { unplayable } from '#lib/links/link-source.ts';
import { creationOf, draftOf, problemsOf, updateOf } from '#lib/links/terms.ts';

const now = new Date('2026-05-03T12:00:00Z');
const link: ShareLink = {
  id: '0197a0f6-0000-7000-8000-000000000001',
  label: 'Client',
  target_kind: 'post',
  target_id: '0197a0f6-0000-7000-8000-000000000002',
  expires_at: '2026-06-01T00:00:00Z',
  has_password: true,
  allow_download: true,
  allow_feedback: false,
  allow_picks: false,
  watermark: 'Studio',
  opened_count: 0,
  last_opened_at: null,
  view_count: 0,
  download_count: 0,
  created_at: '2026-05-01T00:00:00Z',
  revoked_at: null,
  omitted_count: 0,
};

describe('terms of a link', () => {
  it('clears removed terms and sets new ones', () => {
    const removed = { lifetime: 'never', locking: 'none', marking: 'none', downloads: false } as const;
    expect(updateOf(link, { ...draftOf(link), ...removed, label: ' Press ' }, now)).toEqual({
      label: 'Press',
      clear_expires_at: true,
      clear_password: true,
      clear_watermark: true,
      allow_download: false,
    });
    const set = { lifetime: '30', locking: 'set', password: 'anchor', marking: 'library' } as const;
    const update = updateOf(link, { ...draftOf(link), ...set }, now);
    expect(update).toMatchObject({ password: 'anchor', watermark: true });
    expect(update.expires_at?.slice(0, 10)).toBe('2026-06-02');
  });

  it('names a version, changes it, and returns to the current one', () => {
    expect(creationOf({ ...draftOf(undefined), version: '2' }, now)).toMatchObject({ version: 2 });
    expect(creationOf(draftOf(undefined), now)).not.toHaveProperty('version');
    const pinned = { ...link, version: 2 };
    expect(updateOf(pinned, draftOf(pinned), now)).toEqual({});
    expect(updateOf(pinned, { ...draftOf(pinned), version: '3' }, now)).toEqual({ version: 3 });
    expect(updateOf(pinned, { ...draftOf(pinned), version: '' }, now)).toEqual({ clear_version: true });
  });

  it('names forms, changes them, and returns to the originals', () => {
    expect(creationOf({ ...draftOf(undefined), presets: ['small'] }, now)).toMatchObject({
      presets: ['small'],
    });
    expect(creationOf(draftOf(undefined), now)).not.toHaveProperty('presets');
    const limited = { ...link, presets: ['small'] };
    expect(updateOf(limited, draftOf(limited), now)).toEqual({});
    expect(updateOf(limited, { ...draftOf(limited), presets: ['png'] }, now)).toEqual({ presets: ['png'] });
    expect(updateOf(limited, { ...draftOf(limited), presets: [] }, now)).toEqual({ clear_presets: true });
  });

  it('takes feedback and picks, up to a number, and stops', () => {
    const asked = { ...draftOf(undefined), feedback: true, picks: true, mostPicks: '20' };
    expect(creationOf(asked, now)).toMatchObject({ allow_feedback: true, allow_picks: true, max_picks: 20 });
    expect(creationOf({ ...asked, picks: false }, now)).not.toHaveProperty('max_picks');
    const taking = { ...link, allow_feedback: true, allow_picks: true, max_picks: 20 };
    expect(updateOf(taking, draftOf(taking), now)).toEqual({});
    expect(updateOf(taking, { ...draftOf(taking), mostPicks: '' }, now)).toEqual({ clear_max_picks: true });
    expect(updateOf(taking, { ...draftOf(taking), feedback: false, picks: false }, now)).toEqual({
      allow_feedback: false,
      allow_picks: false,
    });
    for (const mostPicks of ['0', '1.5', 'x', '10001'])
      expect(problemsOf({ ...asked, mostPicks }, now)).toHaveProperty('mostPicks');
  });

  it('requires the password, text or day that is switched on', () => {
    const empty = { lifetime: 'date', locking: 'set', marking: 'own' } as const;
    const draft = draftOf(undefined);
    const problems = problemsOf({ ...draft, ...empty }, now);
    expect(Object.keys(problems)).toEqual(['day', 'password', 'watermark']);
    expect(problemsOf(draft, now)).toEqual({});
    expect(creationOf(draft, now)).toMatchObject({ password: null, watermark: null });
  });
});

it('a file is wider than its post when people see it who cannot see the post', () => {
  expect(isWiderThan('public', 'org-only')).toBe(true);
  expect(isWiderThan('public', 'public')).toBe(false);
  expect(isWiderThan('org', 'followers')).toBe(true);
  expect(isWiderThan('org', 'org-only')).toBe(false);
  for (const kept of ['posts', 'team', 'restricted'] as const)
    expect(isWiderThan(kept, 'private')).toBe(false);
});

it('says why a link does not play a film or a sound', () => {
  expect(unplayable({ watermarked: true }, 'video')).toMatch(/watermark/);
  expect(unplayable({ watermarked: false }, 'audio')).toMatch(/does not allow downloads/);
  expect(unplayable({ watermarked: true }, 'document')).toBeUndefined();
});
