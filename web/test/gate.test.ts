import { redirectFor, safeNext, type VisitorState } from '@vitrine/contract/page-gate';
import { describe, expect, it } from 'vitest';
import { mainPlaces } from '#lib/shell/places.ts';
import { userOf } from './samples.ts';

const origin = 'https://library.test';
const user = userOf();
const anonymous: VisitorState = {
  needsSetup: false,
  needsSetupCode: false,
  hasDirectory: false,
  resetsPasswords: false,
  registers: false,
  publicMode: false,
  user: null,
};
const to = (visitorState: VisitorState, path: string) => {
  const url = new URL(path, origin);
  return redirectFor(visitorState, url, url.hash);
};

describe('redirectFor', () => {
  const visiting = { ...anonymous, publicMode: true };
  const signedIn = { ...anonymous, user };
  const lacking = { ...anonymous, user: { ...user, required_step: 'second_factor' as const } };
  it.each([
    ['before set-up', '/posts/1', '/setup', { ...anonymous, needsSetup: true }],
    ['before set-up', '/setup', undefined, { ...anonymous, needsSetup: true }],
    ['signed in', '/setup', '/', signedIn],
    ['signed in', '/sign-in?next=%2Fnew', '/new', signedIn],
    ['signed in', '/settings', undefined, signedIn],
    ['signed in', '/second-factor?next=%2Fnew', '/new', signedIn],
    ['someone without the required second factor', '/', '/second-factor', lacking],
    ['someone without the required second factor', '/second-factor', undefined, lacking],
    ['someone without the required second factor', '/new?a=b', '/second-factor?next=%2Fnew%3Fa%3Db', lacking],
    [
      'someone without the required second factor',
      '/sign-in?next=%2Fnew',
      '/second-factor?next=%2Fnew',
      lacking,
    ],
    ['signed out', '/', '/sign-in', anonymous],
    ['signed out', '/posts/7#comment-1', '/sign-in?next=%2Fposts%2F7%23comment-1', anonymous],
    ['signed out', '/sign-in', undefined, anonymous],
    ['signed out', '/invite/abc', undefined, anonymous],
    ['signed out', '/invite', '/sign-in?next=%2Finvite', anonymous],
    ['signed out', '/forgot-password', undefined, anonymous],
    ['signed in', '/reset/abc', undefined, signedIn],
    ['a visitor in public mode', '/', undefined, visiting],
    ['a visitor in public mode', '/posts/7', undefined, visiting],
    ['a visitor in public mode', '/assets/7', undefined, visiting],
    ['a visitor in public mode', '/assets', '/sign-in?next=%2Fassets', visiting],
    ['a visitor in public mode', '/assets/', '/sign-in?next=%2Fassets%2F', visiting],
    ['a visitor in public mode', '/new', '/sign-in?next=%2Fnew', visiting],
  ])('%s opens %s and gets %s', (_, path, target, state) => {
    expect(to(state, path)).toBe(target);
  });
});

describe('safeNext', () => {
  it.each([
    'https://evil.test/',
    '//evil.test',
    '/\\evil.test',
    '/.//evil.test',
    '/a/%2e.//evil.test',
    'javascript:alert(1)',
    '',
    'posts/7',
  ])('never redirects to another site: %j', (next) => {
    expect(safeNext(next, origin)).toBe('/');
  });

  it('keeps a local path with its query', () => {
    expect(safeNext('/posts/7?x=1', origin)).toBe('/posts/7?x=1');
    expect(safeNext('/posts/7?x=1#comment-1', origin)).toBe('/posts/7?x=1#comment-1');
    expect(safeNext(null, origin)).toBe('/');
    // Browsers keep the fragment when the service redirects to the sign-in.
    expect(safeNext('/posts/7?x=1', origin, '#comment-1')).toBe('/posts/7?x=1#comment-1');
  });
});

it('visitors are offered only the places that they may open', () => {
  const visitor = { ...anonymous, publicMode: true };
  const places = mainPlaces(null).map((place) => place.href);
  expect(places).toEqual(['/collections', '/tags']);
  for (const place of places) expect(to(visitor, place)).toBeUndefined();
});
