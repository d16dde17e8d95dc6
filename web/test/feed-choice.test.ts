import { describe, expect, it } from 'vitest';
import { feedAddress, readFeedChoice, usualChoice } from '../src/lib/posts/feed-choice.ts';

const read = (search: string, signedIn = true) => readFeedChoice(new URLSearchParams(search), signedIn);

describe('the feed an address asks for', () => {
  it('is written and read back the same', () => {
    for (const address of ['/', '/?sort=oldest', '/?show=following', '/?show=drafts&sort=oldest']) {
      expect(feedAddress(read(address.slice(1)))).toBe(address);
    }
  });

  it('is the latest, newest first, for anything unknown', () => {
    expect(read('show=everything&sort=best')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });

  it('has no following and no drafts for a visitor', () => {
    expect(read('show=drafts', false)).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
    expect(read('show=following&sort=oldest', false)).toMatchObject({ feed: 'latest', sort: 'oldest' });
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
      '/?show=drafts',
    ]) {
      expect(feedAddress(readAs(address.slice(1)), usual)).toBe(address);
    }
    expect(readAs('show=latest&sort=newest')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });

  it('falls back to the latest for feeds these pages do not have, and for visitors', () => {
    const trending = { default_views: { feed: 'trending' as const, layout: '' as const, sort: '' as const } };
    expect(usualChoice(trending)).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
    expect(usualChoice(null)).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });
});
