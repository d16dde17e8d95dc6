import { describe, expect, it } from 'vitest';
import { cardLabel } from '#lib/posts/cover.ts';
import { memberLabel } from '#lib/posts/member-words.ts';
import { assetOf, postOf } from './samples.ts';

const picture = assetOf('a', { title: 'Pier' });
const video = assetOf('b', { asset_type: 3, title: 'Tide' });
const imported = assetOf('c', { asset_type: 101 });

// ABLE-2
describe('labels of cards and files', () => {
  it('name title, author, and the kind and number of files', () => {
    expect(cardLabel(postOf([picture], { title: 'Harbour' }))).toBe('Harbour, by Ana, picture');
    expect(cardLabel(postOf([video]))).toBe('Post, by Ana, video');
    expect(cardLabel(postOf([picture, picture]))).toBe('Post, by Ana, 2 pictures');
    expect(cardLabel(postOf([picture, video]))).toBe('Post, by Ana, 2 files');
    expect(cardLabel(postOf([imported], { title: ' ' }))).toBe('Untitled, by Ana, file');
    expect(cardLabel(postOf([]))).toBe('Post, by Ana, no files');
  });

  it('name the kind of a file in a post', () => {
    const { members } = postOf([picture, video, imported]);
    const withheld = { asset_id: 'd', sort_order: 3, restricted: true as const };
    expect([...members, withheld].map(memberLabel)).toEqual([
      'Picture 1: Pier',
      'Video 2: Tide',
      'File 3: Untitled',
      'File 4: not shared with you',
    ]);
  });
});
