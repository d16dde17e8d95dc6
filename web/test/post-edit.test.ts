import { describe, expect, it } from 'vitest';
import {
  changedInWords,
  coverOfEdit,
  editOf,
  focalOfEdit,
  type PostEdit,
  patchOf,
  withoutMember,
} from '#lib/posts/edit/post-edit.ts';
import { movedTo } from '#lib/ui/sorting.ts';
import { assetOf, postOf } from './samples.ts';

const assets = ['a', 'b', 'c'].map((id) => assetOf(id));
const cover = { cover_asset_id: 'b', cover_focal_x: 0.2, cover_focal_y: 0.5 };
const post = postOf(assets, { title: 'Harbour', tags: ['sea'], ...cover });
const edited = (part: Partial<PostEdit>) => patchOf(post, { ...editOf(post), ...part });

describe('what an editor sends', () => {
  it('is empty without changes, ignoring outer spaces', () => {
    expect(edited({})).toEqual({});
    expect(edited({ title: ' Harbour ' })).toEqual({});
  });

  it('assigns it to another team, or to none', () => {
    expect(edited({ team: 't' })).toEqual({ team_id: 't' });
    const ofTeam = { ...post, team_id: 't' };
    expect(patchOf(ofTeam, editOf(ofTeam))).toEqual({});
    expect(patchOf(ofTeam, { ...editOf(ofTeam), team: '' })).toEqual({ clear_team: true });
  });

  it('contains only changes', () => {
    const plain = { title: 'Quay', tags: ['sea', 'dusk'], visibility: 'private' as const };
    const patch = edited({ ...plain, commentsEnabled: false });
    expect(patch).toEqual({ ...plain, comments_enabled: false });
  });

  it('lists members in order and omits an unchanged cover', () => {
    const members = ['c', 'a', 'b'];
    const sent = members.map((asset_id, sort_order) => ({ asset_id, sort_order }));
    expect(edited({ members })).toEqual({ members: sent });
  });

  it('lets the cover follow the order if none was chosen', () => {
    const plain = postOf(assets, { cover_asset_id: 'a' });
    const members = movedTo(['a', 'b', 'c'], 'c', 0);
    const patch = patchOf(plain, { ...editOf(plain), members });
    expect(patch).toMatchObject({ clear_cover: true });
    expect(patch.cover_asset_id).toBeUndefined();
    expect(coverOfEdit({ ...editOf(plain), members })).toBe('c');
  });

  it('keeps a cover chosen in the form for any order', () => {
    const plain = postOf(assets, { cover_asset_id: 'a' });
    const patch = patchOf(plain, { ...editOf(plain), cover: 'a', members: ['b', 'a', 'c'] });
    expect(patch).toMatchObject({ cover_asset_id: 'a' });
    expect(patch.clear_cover).toBeUndefined();
  });

  it('sends and clears a whole focal point; a new cover drops it', () => {
    const point = { cover_focal_x: 0.3, cover_focal_y: 0.5 };
    const focal = (asset: string) => ({ asset, x: 0.3, y: 0.5 });
    expect(edited({ focal: focal('b') })).toEqual(point);
    expect(edited({ focal: null })).toEqual({ clear_cover_focal: true });
    expect(edited({ cover: 'c' })).toEqual({ cover_asset_id: 'c' });
    expect(edited({ cover: 'c', focal: focal('c') })).toEqual({ cover_asset_id: 'c', ...point });
  });

  it('never sends the focal point of a picture that is not the cover', () => {
    const edit = { ...editOf(post), cover: 'c', focal: { asset: 'b', x: 0.9, y: 0.5 } };
    expect(focalOfEdit(edit)).toBeNull();
    expect(patchOf(post, edit)).toEqual({ cover_asset_id: 'c' });
  });

  it('leaves the cover to the order when its picture is removed', () => {
    const edit = withoutMember(editOf(post), 'b');
    expect(coverOfEdit(edit)).toBe('a');
    const members = ['a', 'c'].map((asset_id, sort_order) => ({ asset_id, sort_order }));
    expect(patchOf(post, edit)).toEqual({ members, clear_cover: true });
  });

  it('sets and clears the thumbnail', () => {
    expect(edited({ thumbnail: 'x' })).toEqual({ cover_thumbnail_asset_id: 'x' });
    const with_ = postOf(assets, { cover_thumbnail_asset_id: 'x' });
    expect(patchOf(with_, { ...editOf(with_), thumbnail: null })).toEqual({ clear_cover_thumbnail: true });
  });
});

it('reordering moves within the ends and keeps every id', () => {
  expect(movedTo(['a', 'b', 'c'], 'a', 2)).toEqual(['b', 'c', 'a']);
  expect(movedTo(['a', 'b', 'c'], 'c', -5)).toEqual(['c', 'a', 'b']);
  expect(movedTo(['a', 'b', 'c'], 'x', 0)).toEqual(['a', 'b', 'c']);
});

it('concurrent changes are described in words', () => {
  const newer = postOf([...assets].reverse(), { ...post, title: 'Port', members: [], draft: true });
  const changes = changedInWords(post, { ...newer, members: post.members.slice(0, 2) });
  expect(changes).toEqual(['the title', 'the files', 'it is a draft again']);
  expect(changedInWords(post, post)).toEqual([]);
});
