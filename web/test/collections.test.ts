import type { Collection } from '@vitrine/contract/collections';
import { describe, expect, it } from 'vitest';
import {
  type CollectionEdit,
  creationOf,
  editOf,
  emptyEdit,
  isDayRight,
  patchOf,
} from '#lib/collections/collection-edit.ts';
import { firstShownOf, objectPositionOf } from '#lib/collections/cover-picture.ts';
import { readShelf, shelfAddress } from '#lib/collections/shelf.ts';
import { heldTo, nextAfter, type Step, withStep } from '#lib/collections/steps.ts';
import { itemsInWords } from '#lib/collections/words.ts';
import { assetOf, postOf } from './samples.ts';

const moment = '2026-01-02T03:04:05.000Z';
const now = new Date('2026-03-01T12:00:00');

const collection: Collection = {
  id: 'c',
  owner_user_ref: 1,
  name: 'Harbour',
  description: 'Boats',
  visibility: 'org-only',
  cover_post_id: null,
  cover_focal_x: null,
  cover_focal_y: null,
  covers: [],
  item_count: 0,
  smart: false,
  has_files: false,
  expires_at: null,
  created_at: moment,
  updated_at: moment,
};

describe('what the form of a collection sends', () => {
  const before = editOf(collection);
  const patch = (given: Partial<CollectionEdit>, from = before) => patchOf(from, { ...from, ...given }, now);

  it('contains only changes', () => {
    expect(patch({})).toEqual({});
    expect(patch({ name: ' Harbour ' })).toEqual({});
    expect(patch({ name: 'Pier', visibility: 'private' })).toEqual({ name: 'Pier', visibility: 'private' });
    expect(patch({ description: '' })).toEqual({ description: '' });
  });

  it('ends with the last day and keeps an unchanged end', () => {
    const end = new Date('2026-03-05T23:59:59').toISOString();
    expect(patch({ lastDay: '2026-03-05' })).toEqual({ expires_at: end });
    const ending = editOf({ ...collection, expires_at: '2026-03-05T10:00:00.000Z' });
    expect(patch({}, ending)).toEqual({});
    expect(patch({ lastDay: '' }, ending)).toEqual({ clear_expires_at: true });
  });

  it('refuses a past day unless it was set before', () => {
    expect(isDayRight({ ...before, lastDay: '2026-02-28' }, before, now)).toBe(false);
    expect(isDayRight({ ...before, lastDay: '2026-03-01' }, before, now)).toBe(true);
    expect(isDayRight(before, before, now)).toBe(true);
    const past = { ...before, lastDay: '2025-01-01' };
    expect(isDayRight(past, past, now)).toBe(true);
  });

  it('creates a collection from a name alone', () => {
    expect(creationOf({ ...emptyEdit, name: ' Pier ' }, now)).toEqual({
      name: 'Pier',
      visibility: 'org-only',
    });
  });
});

describe('the steps of arranging', () => {
  const move = (post: string, before: string | null): Step => ({
    kind: 'move',
    item: { kind: 'post', id: post },
    before,
  });

  it('drops a move superseded before it was sent', () => {
    const waiting = withStep(withStep([], move('a', 'c')), move('a', null));
    expect(waiting).toEqual([move('a', null)]);
    const removal: Step = { kind: 'remove', item: { kind: 'post', id: 'a' } };
    expect(withStep(waiting, removal)).toEqual([removal]);
    expect(withStep(waiting, move('b', 'a'))).toEqual([move('a', null), move('b', 'a')]);
  });

  it('names the post before which the moved post is placed', () => {
    expect(nextAfter(['a', 'b', 'c'], 'a')).toBe('b');
    expect(nextAfter(['a', 'b', 'c'], 'c')).toBeNull();
  });

  it('keeps the displayed order, without removed and with newly loaded entries', () => {
    expect(heldTo(['c', 'a', 'b'], ['a', 'b', 'c', 'd'], new Set())).toEqual(['c', 'a', 'b', 'd']);
    expect(heldTo(['c', 'a', 'b'], ['a', 'c'], new Set())).toEqual(['c', 'a']);
    expect(heldTo(['b'], ['a', 'b', 'c'], new Set(['a']))).toEqual(['b', 'c']);
  });
});

describe('the cover', () => {
  it('centres the focal point as far as possible', () => {
    expect(objectPositionOf(1.5, 1.5, { x: 0.1, y: 0.9 })).toBe('50% 50%');
    expect(objectPositionOf(1.5, 1, null)).toBe('50% 50%');
    expect(objectPositionOf(1.5, 1, { x: 0, y: 0.5 })).toBe('0% 50%');
    expect(objectPositionOf(1.5, 1, { x: 1, y: 0.5 })).toBe('100% 50%');
    expect(objectPositionOf(1, 2, { x: 0.5, y: 0.25 })).toBe('50% 0%');
  });

  it('is the post’s cover, or the first visible picture', () => {
    const post = postOf([assetOf('a'), assetOf('b')], { cover_asset_id: 'b' });
    expect(firstShownOf(post)?.id).toBe('b');
    const [first, ...rest] = post.members;
    if (first === undefined) throw new Error('the sample has no members');
    const withheld = { asset_id: first.asset_id, sort_order: 0, restricted: true as const };
    expect(firstShownOf({ ...post, cover_asset_id: 'a', members: [withheld, ...rest] })?.id).toBe('b');
    expect(firstShownOf({ ...post, members: [withheld] })).toBeUndefined();
  });
});

describe('shelves', () => {
  it('are the user’s own by default, and everybody’s for visitors', () => {
    expect(readShelf(new URLSearchParams(''), true)).toBe('mine');
    expect(readShelf(new URLSearchParams('of=all'), true)).toBe('all');
    expect(readShelf(new URLSearchParams(''), false)).toBe('all');
    expect(shelfAddress('mine', '')).toBe('/collections');
    expect(shelfAddress('all', 'a&b')).toBe('/collections?of=all&q=a%26b');
  });

  it('mark a count that was capped', () => {
    expect(itemsInWords(1, 1000, false)).toBe('1 post');
    expect(itemsInWords(999, 1000, true)).toBe('999 items');
    expect(itemsInWords(1000, 1000, false)).toBe('1,000+ posts');
  });
});
