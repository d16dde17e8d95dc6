import { describe, expect, it } from 'vitest';
import {
  feedAddress,
  isNarrowed,
  readDraftsChoice,
  readFeedChoice,
  usualChoice,
  withTag,
} from '#lib/posts/feed-choice.ts';
import { choiceOf, queryOf } from '#lib/views/view-choice.ts';

const team = '00000000-0000-4000-8000-000000000001';
const read = (search: string, signedIn = true) => readFeedChoice(new URLSearchParams(search), signedIn);

describe('the feed an address asks for', () => {
  it.each([
    '/',
    '/?sort=oldest',
    '/?show=following',
    '/?show=team',
    '/?show=trending&sort=oldest',
    '/?origin=peers',
    `/?origin=${team}`,
    '/?tag=sea&tag=dusk',
    '/?show=trending&tag=a+%26+b%2Fc',
    `/?sort=oldest&tag=sea&author=7&team=${team}`,
  ])('survives a round trip through the URL: %s', (address) => {
    expect(feedAddress(read(address.slice(1)))).toBe(address);
  });

  it('defaults to the latest posts, newest first', () => {
    expect(read('show=everything&sort=best')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });

  it('has a separate page for drafts', () => {
    const usual = usualChoice(null);
    const oldest = readDraftsChoice(new URLSearchParams('sort=oldest'), usual);
    expect(oldest).toEqual({ feed: 'latest', sort: 'oldest', drafts: true });
    expect(feedAddress(oldest)).toBe('/drafts?sort=oldest');
    expect(feedAddress(readDraftsChoice(new URLSearchParams(''), usual))).toBe('/drafts');
  });
});

// PREFERENCE-2
describe('the feed of someone with preferences', () => {
  const usual = usualChoice({ default_views: { feed: 'following', layout: '', sort: 'oldest' } });
  const readAs = (search: string) => readFeedChoice(new URLSearchParams(search), true, usual);

  it('is the preferred feed if the URL names none', () => {
    expect(readAs('')).toEqual({ feed: 'following', sort: 'oldest', drafts: false });
    expect(feedAddress(usual, usual)).toBe('/');
  });

  it('can be any other feed named in the URL', () => {
    const others = ['?show=latest', '?sort=newest', '?show=latest&sort=newest', '?show=trending'];
    for (const search of ['', ...others]) expect(feedAddress(readAs(search), usual)).toBe(`/${search}`);
    expect(readAs('show=latest&sort=newest')).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });

  it('is the latest for visitors', () => {
    expect(usualChoice(null)).toEqual({ feed: 'latest', sort: 'newest', drafts: false });
  });
});

describe('a feed that is narrowed', () => {
  it('is one with tags, an author, a team or an origin', () => {
    for (const search of ['tag=sea', 'author=7', `team=${team}`, 'origin=peers'])
      expect([search, isNarrowed(read(search))]).toEqual([search, true]);
    expect(isNarrowed(read('show=trending'))).toBe(false);
  });

  it('takes at most ten distinct, valid tags', () => {
    const many = Array.from({ length: 12 }, (_, i) => `tag=t${i}`).join('&');
    expect(read(many).tags).toHaveLength(10);
    expect(read(`tag=a&tag=a&tag=&tag=${'x'.repeat(65)}&author=me&author=-1&team=x`)).toEqual(read('tag=a'));
  });

  it('adds and removes tags, and is the whole feed without any', () => {
    const one = withTag(read(''), 'sea', true);
    expect(one.tags).toEqual(['sea']);
    expect(withTag(withTag(one, 'dusk', true), 'sea', false).tags).toEqual(['dusk']);
    expect(withTag(one, 'sea', false)).toEqual(read(''));
  });
});

it('a saved view restores the filters it was saved with', () => {
  for (const search of ['', 'show=trending', `sort=oldest&tag=sea&tag=dusk&author=7&team=${team}`]) {
    expect(choiceOf(queryOf(read(search)))).toEqual(read(search));
  }
});
