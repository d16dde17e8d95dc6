import { describe, expect, it } from 'vitest';
import { feedAddress, readDraftsChoice, readFeedChoice, usualChoice } from '../src/lib/posts/feed-choice.ts';

const read = (search: string, signedIn = true) => readFeedChoice(new URLSearchParams(search), signedIn);

describe('the feed an address asks for', () => {
  it('is written and read back the same', () => {
    for (const address of ['/', '/?sort=oldest', '/?show=following', '/?show=trending&sort=oldest']) {
      expect(feedAddress(read(address.slice(1)))).toBe(address);
    }
  });

  it('is the latest, newest first, for anything unknown', () => {
    expect(read('show=everything&sort=best')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });

  it('has no following for a visitor, but shows what trends', () => {
    expect(read('show=following&sort=oldest', false)).toMatchObject({ feed: 'latest', sort: 'oldest' });
    expect(read('show=trending', false)).toMatchObject({ feed: 'trending' });
  });

  it('is a page of its own for drafts', () => {
    const usual = usualChoice(null);
    const oldest = readDraftsChoice(new URLSearchParams('sort=oldest'), usual);
    expect(oldest).toEqual({ feed: 'latest', sort: 'oldest', drafts: true });
    expect(feedAddress(oldest)).toBe('/drafts?sort=oldest');
    expect(feedAddress(readDraftsChoice(new URLSearchParams(''), usual))).toBe('/drafts');
  });
});

describe('the feed of someone with preferences', () => {
  const usual = usualChoice({ default_views: { feed: 'following', layout: '', sort: 'oldest' } });
  const readAs = (search: string) => readFeedChoice(new URLSearchParams(search), true, usual);

  it('is what they prefer when the address says nothing', () => {
    expect(readAs('')).toEqual({ feed: 'following', sort: 'oldest', drafts: false });
    expect(feedAddress(usual, usual)).toBe('/');
  });

  it('can still be any other, written out in the address', () => {
    for (const address of [
      '/',
      '/?show=latest',
      '/?sort=newest',
      '/?show=latest&sort=newest',
      '/?show=trending',
    ]) {
      expect(feedAddress(readAs(address.slice(1)), usual)).toBe(address);
    }
    expect(readAs('show=latest&sort=newest')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });

  it('falls back to the latest for feeds these pages do not have, and for visitors', () => {
    const preferring = (feed: 'trending' | 'team') =>
      usualChoice({ default_views: { feed, layout: '', sort: '' } });
    expect(preferring('team')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
    expect(preferring('trending')).toMatchObject({ feed: 'trending' });
    expect(usualChoice(null)).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });
});
