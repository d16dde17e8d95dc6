import { describe, expect, it } from 'vitest';
import { feedAddress, readFeedChoice } from '../src/lib/posts/feed-choice.ts';

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
