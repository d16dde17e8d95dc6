import { describe, expect, it } from 'vitest';
import { fileSize } from '#lib/assets/file-size.ts';
import { initialsOf } from '#lib/identity/initials.ts';
import { addTags, parseTags } from '#lib/upload/tags.ts';

describe('fileSize', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1000, '1.0 kB'],
    [99_950, '100 kB'],
    [999_500, '1.0 MB'],
    [20_000_000_000, '20.0 GB'],
    [5e15, '5000 TB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(fileSize(bytes)).toBe(text);
  });
});

describe('tags', () => {
  it('splits at commas and lines, and strips hashes and spaces', () => {
    expect(parseTags(' #dusk,  old   harbour ;\n##sea,, \t')).toEqual(['dusk', 'old harbour', 'sea']);
    expect(parseTags('  ')).toEqual([]);
  });

  it('drops duplicates, ignoring case', () => {
    expect(addTags(['Dusk'], 'dusk, DUSK, sea')).toEqual({ tags: ['Dusk', 'sea'], problem: undefined });
  });

  it('accepts 64 characters and refuses 65, counted as graphemes', () => {
    expect(addTags([], 'é'.repeat(64)).tags).toHaveLength(1);
    const after = addTags(['sea'], `${'x'.repeat(65)}, dune`);
    expect(after.tags).toEqual(['sea', 'dune']);
    expect(after.problem).toContain('64');
  });

  it('accepts at most fifty', () => {
    const fifty = addTags([], Array.from({ length: 50 }, (_, at) => `t${at}`).join());
    expect(fifty).toMatchObject({ problem: undefined });
    const after = addTags(fifty.tags, 'one more');
    expect(after.tags).toHaveLength(50);
    expect(after.problem).toContain('50');
  });
});

describe('initialsOf', () => {
  it.each([
    ['ana', 'A'],
    ['Ana Maria Lima', 'AL'],
    ['  ', ''],
    ['𝒜da ß', '𝒜SS'],
  ])('of %j are %s', (name, initials) => {
    expect(initialsOf(name)).toBe(initials);
  });
});
