import { describe, expect, it } from 'vitest';
import { arranged, type OrderedFile, orderOf } from '#lib/posts/edit/file-order.ts';
import { coverOfEdit, draftOf, editOf, newEdit, patchOf } from '#lib/posts/edit/post-edit.ts';
import {
  forgetUnfinished,
  keepUnfinished,
  readUnfinished,
  type UnfinishedPost,
} from '#lib/posts/new/unfinished.ts';
import { localTimeOf, timeOfLocal } from '#lib/time/local-time.ts';
import { assetOf, postOf } from './samples.ts';

const file = (name: string, taken?: number): OrderedFile => ({ id: name, name, taken });

describe('the order of files', () => {
  it('is natural by name, also with new files', () => {
    const files = ['img 10', 'IMG 9', 'img 1'].map((name) => file(name));
    expect(arranged([], files, 'name')).toEqual(['img 1', 'IMG 9', 'img 10']);
    expect(arranged(['img 10', 'img 1'], files, 'name')).toEqual(['img 1', 'IMG 9', 'img 10']);
  });

  it('by date puts files without one last', () => {
    expect(arranged([], [file('a'), file('b', 2), file('c', 1)], 'taken')).toEqual(['c', 'b', 'a']);
  });

  it('as arranged keeps places, drops what is gone, and appends new files by name', () => {
    const files = ['c', 'a', 'n 10', 'n 2'].map((name) => file(name));
    expect(arranged(['c', 'gone', 'a'], files, 'own')).toEqual(['c', 'a', 'n 2', 'n 10']);
  });

  it('is recognised', () => {
    expect(orderOf(['a 2', 'a 10'].map((name) => file(name)))).toBe('name');
    expect(orderOf(['a 10', 'a 2'].map((name) => file(name)))).toBe('own');
  });
});

describe('the automatic cover', () => {
  const archive = assetOf('zip', { asset_type: 7, preview_available: false, ladder_available: false });
  const pending = {
    processing_status: 'pending' as const,
    preview_available: false,
    ladder_available: false,
  };
  const arriving = assetOf('new', pending);

  it('is the first file with a picture, and is sent because the service would take the first file', () => {
    const edit = { ...newEdit, members: ['zip', 'a'], plain: ['zip'] };
    expect(coverOfEdit(edit)).toBe('a');
    expect(draftOf(edit)).toMatchObject({ cover_asset_id: 'a', draft: true });
    expect(draftOf({ ...edit, members: ['a', 'zip'] }).cover_asset_id).toBeUndefined();
    expect(coverOfEdit({ ...edit, members: ['zip'] })).toBe('zip');
  });

  it('counts a picture that is being processed, and changes nothing by itself', () => {
    const post = postOf([archive, arriving], { cover_asset_id: 'new' });
    expect(editOf(post)).toMatchObject({ cover: null, plain: ['zip'] });
    expect(patchOf(post, editOf(post))).toEqual({});
    expect(patchOf(post, { ...editOf(post), members: ['new', 'zip'] })).toMatchObject({ clear_cover: true });
  });

  it('does not replace an archive that was chosen', () => {
    const post = postOf([archive, assetOf('a')], { cover_asset_id: 'zip' });
    expect(editOf(post).cover).toBe('zip');
    expect(patchOf(post, editOf(post))).toEqual({});
  });
});

describe('an unfinished post', () => {
  const items = new Map<string, string>();
  const memory = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  const blank: UnfinishedPost = {
    draft: null,
    since: null,
    edit: { ...newEdit, team: 't' },
    collection: '',
    people: [],
    uploaded: [],
    arriving: [],
    fields: {},
  };

  it('is remembered for its account with its audience, and forgotten when it is finished', () => {
    const post = { ...blank, edit: { ...newEdit, title: 'Quay', visibility: 'private' as const } };
    keepUnfinished(memory, 1, post);
    expect(readUnfinished(memory, 1)).toMatchObject(post);
    expect(readUnfinished(memory, 2)).toBeUndefined();
    forgetUnfinished(memory, 1);
    expect(items.size).toBe(0);
  });

  it('is remembered for its audience alone, but not when nothing was entered', () => {
    keepUnfinished(memory, 1, { ...blank, edit: { ...newEdit, visibility: 'followers' } });
    expect(readUnfinished(memory, 1)?.edit.visibility).toBe('followers');
    keepUnfinished(memory, 1, blank);
    expect(items.size).toBe(0);
  });

  it('of another version, or damaged, is ignored', () => {
    for (const text of ['{"version":99,"edit":{}}', '[]', '3', '{', '{"edit":{}}']) {
      items.set('vitrine.new-post.1', text);
      expect(readUnfinished(memory, 1)).toBeUndefined();
    }
  });
});

it('reads and writes the local time of a field', () => {
  const moment = new Date(2026, 2, 4, 5, 6);
  expect(localTimeOf(moment)).toBe('2026-03-04T05:06');
  expect(timeOfLocal('2026-03-04T05:06')).toBe(moment.toISOString());
  expect(timeOfLocal('')).toBeUndefined();
  expect(timeOfLocal('soon')).toBeUndefined();
});
