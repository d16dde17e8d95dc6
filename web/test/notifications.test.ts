import type { CommentRoot } from '@vitrine/contract/comments';
import type { Notification } from '@vitrine/contract/notifications';
import { describe, expect, it } from 'vitest';
import { commentIn, findComment } from '#lib/comments/find.ts';
import { completed, matching, mentionDraftAt, mentionOf, piecesOf } from '#lib/comments/mentions.ts';
import { peopleIn } from '#lib/comments/people.ts';
import { smtpAddress } from '#lib/mail/smtp-address.ts';
import { hourChoices, zoneChoices } from '#lib/notifications/choice-words.ts';
import { byPeriod } from '#lib/notifications/days.ts';
import { placeOf, sentenceOf } from '#lib/notifications/wording.ts';
import { commentOf } from './samples.ts';

const otto = { ref: 2, username: 'otto b', display_name: 'Otto Brandt' };
const post = { id: 'p', title: 'Quay' };
const comment = { id: 'c', parent_id: null, excerpt: 'Well' };
const request = {
  id: 'r',
  target_kind: 'asset' as const,
  target_id: 'a',
  requested_capability: 'content.access.request',
  state: 'pending' as const,
};
const nameless = { id: 'p', title: ' ' };
const pier = { ...request, title: 'Pier' };
const told = (given: Partial<Notification>): Notification => ({
  id: 'n',
  kind: 'comment',
  actor: otto,
  actor_count: 1,
  read: false,
  happened_at: '2026-03-04T05:06:07.000Z',
  ...given,
});
describe('a notification', () => {
  it.each<[Partial<Notification>, string, string]>([
    [{ post, comment }, 'Otto Brandt commented on your post Quay', '/posts/p#comment-c'],
    [{ kind: 'reply', post, comment }, 'Otto Brandt replied to you on Quay', '/posts/p#comment-c'],
    [{ kind: 'watched_comment', post, comment }, 'Otto Brandt commented on Quay', '/posts/p#comment-c'],
    [{ kind: 'mention', post, comment }, 'Otto Brandt mentioned you in Quay', '/posts/p#comment-c'],
    [{ kind: 'mention', post: nameless }, 'Otto Brandt mentioned you in a post', '/posts/p'],
    [{ kind: 'like', post }, 'Otto Brandt likes your post Quay', '/posts/p'],
    [{ kind: 'like', post, actor_count: 2 }, 'Otto Brandt and one other like your post Quay', '/posts/p'],
    [{ kind: 'like', post, actor_count: 5 }, 'Otto Brandt and 4 others like your post Quay', '/posts/p'],
    [
      { kind: 'assigned', post, comment },
      'Otto Brandt assigned an annotation in Quay to you',
      '/posts/p#comment-c',
    ],
    [
      { kind: 'assigned', post, comment, review: { id: 'v', due_at: null, decision: null } },
      'Otto Brandt assigned an annotation in Quay to you',
      '/reviews/v#comment-c',
    ],
    [
      { kind: 'guest_feedback', link: { id: 'l', label: 'Nord', target_kind: 'collection', target_id: 'k' } },
      'Guests left feedback at your link Nord',
      '/links/l',
    ],
    [{ kind: 'follow' }, 'Otto Brandt started following you', '/users/otto%20b'],
    [{ kind: 'request_received', request }, 'Otto Brandt asks to see an asset', '/requests'],
    [
      { kind: 'request_received', request: { ...pier, requested_capability: 'content.restore.request' } },
      'Otto Brandt asks to have Pier back from the trash',
      '/requests',
    ],
    [
      { kind: 'request_decided', request: { ...pier, state: 'granted' } },
      'What you asked about Pier was granted',
      '/requests?of=mine',
    ],
  ])('%j', (given, words, place) => {
    const said = sentenceOf(told(given)).map(({ text }) => text);
    expect(said.join('')).toBe(words);
    expect(placeOf(told(given))).toBe(place);
  });

  it('from an unknown actor has a generic name', () => {
    const { actor: _, ...without } = told({ kind: 'follow' });
    expect(sentenceOf(without)[0]).toEqual({ text: 'Someone' });
    expect(placeOf(without)).toBe('/notifications');
  });

  it('of a request links people who decide for everyone to the full queue', () => {
    expect(placeOf(told({ kind: 'request_received', request }), true)).toBe('/requests?of=all');
    expect(placeOf(told({ kind: 'request_decided', request }), true)).toBe('/requests?of=mine');
  });
});

it('the list is grouped by day in local time, without empty days', () => {
  const now = new Date(2026, 4, 20, 9, 30).getTime();
  const at = (...when: [number, number, number]) => ({
    happened_at: new Date(2026, 4, ...when).toISOString(),
  });
  const items = [at(20, 9, 30), at(20, 0, 0), at(19, 23, 59), at(14, 0, 0), at(13, 23, 59)];
  expect(byPeriod(items, now).map(({ label, items: those }) => [label, those.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 1],
    ['This week', 1],
    ['Earlier', 1],
  ]);
  expect(byPeriod([at(1, 0, 0)], now).map(({ label }) => label)).toEqual(['Earlier']);
});

describe('a mention', () => {
  const namesIn = (text: string) =>
    piecesOf(text).flatMap((one) => ('username' in one ? [one.username] : []));

  it.each([
    ['@anna hello', ['anna']],
    ['(@anna.b), @c-d!', ['anna.b', 'c-d']],
    ['Thank you @anna.', ['anna']],
    ['@"Anna B" and @"c', ['Anna B']],
    ['mail anna@example.org or @@anna', []],
    ['@ @. @-', []],
    ['@Jürgen_1', ['Jürgen_1']],
    ['@अनीता, @"a"', ['अनीता', 'a']],
  ])('%j', (text, names) => {
    expect(namesIn(text)).toEqual(names);
    const pieces = piecesOf(text).map((one) => one.text);
    expect(pieces.join('')).toBe(text);
  });

  it('is recognised only at the caret', () => {
    expect(mentionDraftAt('Hi @ot', 6)).toEqual({ from: 3, typed: 'ot' });
    expect(mentionDraftAt('Hi @ot there', 6)).toEqual({ from: 3, typed: 'ot' });
    expect(mentionDraftAt('@"Otto Br', 9)).toEqual({ from: 0, typed: 'Otto Br' });
    expect(mentionDraftAt('@', 1)).toEqual({ from: 0, typed: '' });
    expect(mentionDraftAt('a@ot', 4)).toBeUndefined();
    expect(mentionDraftAt('@ot ', 4)).toBeUndefined();
  });

  it('is completed, quoted if the name has spaces, and keeps the following text', () => {
    expect(completed('Hi @ot', { from: 3, typed: 'ot' }, 6, 'otto')).toEqual({ text: 'Hi @otto ', caret: 9 });
    const quoted = completed('@ot there', { from: 0, typed: 'ot' }, 3, 'otto b');
    expect(quoted).toEqual({ text: '@"otto b" there', caret: 10 });
    expect(['anna.b', 'anna.', 'o"b'].map(mentionOf)).toEqual(['@anna.b', '@"anna."', undefined]);
  });

  it('suggests participants by username and by each word of the name', () => {
    const mara = { ref: 1, username: 'mara', display_name: 'Mara' };
    const quote = { ref: 3, username: 'o"b', display_name: 'Ob' };
    expect(matching([mara, otto, quote], 'br')).toEqual([otto]);
    expect(matching([mara, otto, quote], 'O')).toEqual([otto]);
    expect(matching([mara, otto], '')).toEqual([mara, otto]);
    const by = (author: typeof otto) => ({ author });
    const roots = [{ ...by(otto), replies: [by(mara), by(otto)] }] as const;
    expect(peopleIn({ author: mara }, roots, 9)).toEqual([mara, otto]);
    expect(peopleIn({ author: mara }, roots, 1)).toEqual([otto]);
  });
});

/** Pages of comments, each with all its replies, of which the first comes with it. */
function readingOf(pages: Record<string, string[]>[]) {
  const rootOf = (id: string, replies: string[]): CommentRoot => ({
    ...commentOf(id),
    reply_count: replies.length,
    replies: replies.slice(0, 1).map((one) => commentOf(one, { parent_id: id })),
  });
  const all = pages.map((page) => Object.entries(page).map(([id, replies]) => rootOf(id, replies)));
  let read: CommentRoot[] = [];
  let pagesRead = 0;
  const asked: string[] = [];
  const readOn = async () => {
    const next = all[pagesRead];
    if (next === undefined) return false;
    pagesRead += 1;
    read = [...read, ...next];
    asked.push(`page ${pagesRead}`);
    return true;
  };
  return {
    asked,
    reading: {
      roots: () => read,
      readAnew: async () => {
        if (pagesRead === 0) await readOn();
      },
      readOn,
      readReplies: async (id: string) => {
        asked.push(id);
        return pages.flatMap((page) => page[id] ?? []).map((one) => commentOf(one, { parent_id: id }));
      },
    },
  };
}

describe('the comment that a URL links to', () => {
  it('is named by the fragment', () => {
    const id = '0190a1b2-c3d4-7e5f-8a6b-1c2d3e4f5a6b';
    expect(commentIn(`#comment-${id}`)).toBe(id);
    expect(commentIn(`#comment-${id.toUpperCase()}`)).toBe(id);
    for (const hash of ['', '#comments', '#comment-7', `#comment-${id}x`])
      expect(commentIn(hash)).toBeUndefined();
  });

  it('is searched in comments, replies and further pages', async () => {
    const pages = [{ a: ['a1', 'a2'], b: [] }, { c: ['c1', 'c2', 'c3'] }];
    const find = async (id: string) => {
      const { reading, asked } = readingOf(pages);
      return [await findComment(reading, id), asked.join(' ')];
    };
    expect(await find('a1')).toEqual([true, 'page 1']);
    expect(await find('a2')).toEqual([true, 'page 1 a']);
    expect(await find('c3')).toEqual([true, 'page 1 a page 2 c']);
    expect(await find('gone')).toEqual([false, 'page 1 a page 2 c']);
  });

  it('is searched in a limited number of pages', async () => {
    const pages = Array.from({ length: 40 }, (_, page) => ({ [`r${page}`]: ['x', 'y'] }));
    const { reading, asked } = readingOf(pages);
    expect(await findComment(reading, 'gone')).toBe(false);
    expect(asked.length).toBeLessThan(20);
  });
});

describe('a mail server’s address', () => {
  const usual = { port: '', encryption: 'offered' as const, user: '', password: '' };
  const draft = { ...usual, host: ' mail.example.org ' };

  it.each([
    [{}, 'smtp://mail.example.org'],
    [{ encryption: 'smtps' as const, port: '465' }, 'smtps://mail.example.org:465'],
    [{ encryption: 'required' as const }, 'smtp://mail.example.org?tls=required'],
    [{ host: '::1', port: '25', encryption: 'off' as const }, 'smtp://[::1]:25?tls=off'],
    [{ user: 'a@b', password: 'p:/@#% w' }, 'smtp://a%40b:p%3A%2F%40%23%25%20w@mail.example.org'],
    [{ user: 'a' }, 'smtp://a@mail.example.org'],
    [{ user: 'a', password: '\ud800' }, 'smtp://a:%EF%BF%BD@mail.example.org'],
  ])('%j', (given, address) => {
    expect(smtpAddress({ ...draft, ...given })).toBe(address);
  });
});

it('the hours of a digest are those of a day in the stored time zone, the device’s or UTC', () => {
  expect(hourChoices.map(({ value }) => value)).toEqual(Array.from({ length: 24 }, (_, hour) => `${hour}`));
  expect(hourChoices[7]?.label).toBe('07:00');
  expect(zoneChoices('Europe/Berlin', 'America/New_York')).toEqual([
    { value: 'Europe/Berlin', label: 'Europe/Berlin' },
    { value: 'America/New_York', label: 'America/New York (this device)' },
    { value: 'UTC', label: 'UTC' },
  ]);
  expect(zoneChoices('UTC', 'UTC')).toEqual([{ value: 'UTC', label: 'UTC (this device)' }]);
});
