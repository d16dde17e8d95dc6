import { describe, expect, it } from 'vitest';
import { redirectFor, safeNext, type VisitorState } from '#lib/identity/gate.ts';
import { mainPlaces } from '#lib/shell/places.ts';

const origin = 'https://library.test';
const user = {
  ref: 1,
  username: 'ana',
  fullname: null,
  email: null,
  auth_method: 'session' as const,
  language: 'en',
  theme: '' as const,
  default_views: { feed: '' as const, layout: '' as const, sort: '' as const },
  mature_content_allowed: false,
  capabilities_status: 'resolved' as const,
  impersonated_by: null,
};
const anonymous: VisitorState = { needsSetup: false, needsSetupCode: false, publicMode: false, user: null };
const to = (visitorState: VisitorState, path: string) => redirectFor(visitorState, new URL(path, origin));

describe('redirectFor', () => {
  it('redirects to set-up until it is complete', () => {
    expect(to({ ...anonymous, needsSetup: true }, '/posts/1')).toBe('/setup');
    expect(to({ ...anonymous, needsSetup: true }, '/sign-in')).toBe('/setup');
    expect(to({ ...anonymous, needsSetup: true }, '/setup')).toBeUndefined();
    expect(to({ ...anonymous, user }, '/setup')).toBe('/');
  });

  it('redirects to sign-in and remembers the page', () => {
    expect(to(anonymous, '/')).toBe('/sign-in');
    expect(to(anonymous, '/?sort=oldest')).toBe('/sign-in?next=%2F%3Fsort%3Doldest');
    expect(to(anonymous, '/assets/7')).toBe('/sign-in?next=%2Fassets%2F7');
    expect(to(anonymous, '/posts/7')).toBe('/sign-in?next=%2Fposts%2F7');
    expect(to(anonymous, '/sign-in')).toBeUndefined();
    const post = new URL('/posts/7', origin);
    expect(redirectFor(anonymous, post, '#comment-1')).toBe('/sign-in?next=%2Fposts%2F7%23comment-1');
  });

  it('lets visitors only read in public mode', () => {
    const visitor = { ...anonymous, publicMode: true };
    expect(to(visitor, '/')).toBeUndefined();
    expect(to(visitor, '/posts/7')).toBeUndefined();
    expect(to(visitor, '/users/ana')).toBeUndefined();
    expect(to(visitor, '/search')).toBeUndefined();
    expect(to(visitor, '/search?q=harbour')).toBeUndefined();
    expect(to(visitor, '/tags/sea')).toBeUndefined();
    expect(to(visitor, '/assets/7')).toBeUndefined();
    expect(to(visitor, '/collections')).toBeUndefined();
    expect(to(visitor, '/collections/7')).toBeUndefined();
    expect(to(visitor, '/assets')).toBe('/sign-in?next=%2Fassets');
    expect(to(visitor, '/assets/')).toBe('/sign-in?next=%2Fassets%2F');
    expect(to(visitor, '/requests')).toBe('/sign-in?next=%2Frequests');
    expect(to(visitor, '/new')).toBe('/sign-in?next=%2Fnew');
    expect(to(visitor, '/settings')).toBe('/sign-in?next=%2Fsettings');
  });

  it('redirects signed-in users from the sign-in page to the requested one', () => {
    expect(to({ ...anonymous, user }, '/sign-in?next=%2Fnew')).toBe('/new');
    expect(to({ ...anonymous, user }, '/settings')).toBeUndefined();
  });
});

describe('safeNext', () => {
  it.each(['https://evil.test/', '//evil.test', '/\\evil.test', 'javascript:alert(1)', '', 'posts/7'])(
    'never redirects to another site: %j',
    (next) => {
      expect(safeNext(next, origin)).toBe('/');
    },
  );

  it('keeps a local path with its query', () => {
    expect(safeNext('/posts/7?x=1', origin)).toBe('/posts/7?x=1');
    expect(safeNext('/posts/7?x=1#comment-1', origin)).toBe('/posts/7?x=1#comment-1');
    expect(safeNext(null, origin)).toBe('/');
  });
});

describe('mainPlaces', () => {
  it('offers visitors only what they may open', () => {
    const visitor = { ...anonymous, publicMode: true };
    const places = mainPlaces(null).map((place) => place.href);
    expect(places).toEqual(['/collections', '/tags']);
    for (const place of places) expect(to(visitor, place)).toBeUndefined();
  });

  it('offers teams to people who may read them', () => {
    const labels = (capabilities: string[]) =>
      mainPlaces({ ...user, capabilities }).map((place) => place.label);
    expect(labels([])).toEqual(['Assets', 'Collections', 'Tags']);
    expect(labels(['teams.read'])).toEqual(['Assets', 'Collections', 'Teams', 'Tags']);
  });
});
