import { describe, expect, it, test } from 'vitest';
import { rereadAfter } from '#lib/assets/arrival.ts';
import { assetPatch, changesBetween, draftOf } from '#lib/assets/asset-draft.ts';
import { libraryAddress, ownAssets, readAssetFilter } from '#lib/assets/asset-filter.ts';
import { explainBlur, isVeiled } from '#lib/assets/mature.ts';
import { keyInWords, metadataFacts } from '#lib/assets/metadata.ts';
import { audienceText, mayChange, sensitivityChoices } from '#lib/assets/sensitivity.ts';
import { sourceOf, suggesterOf } from '#lib/assets/tag-source.ts';
import { assetOf, userOf } from './samples.ts';

const team = '0b3f3c1e-8f5a-4c7e-9d51-7a2f6f1f0a11';

describe('filters of the library page', () => {
  it('survives a round trip through the URL', () => {
    const filter = {
      everyone: true,
      type: 3,
      status: 'archived' as const,
      tags: ['a&b', 'dusk'],
      team,
      origin: 'peers',
    };
    const address = new URL(libraryAddress(filter), 'http://here');
    expect(readAssetFilter(address.searchParams)).toEqual(filter);
    expect(libraryAddress(ownAssets)).toBe('/assets');
  });

  it.each(['type=x', 'type=0', 'type=1.5', 'type=9999999999', 'status=gone', 'team=x', 'tag=', 'of=me'])(
    'drops invalid filters: %s',
    (query) => {
      expect(readAssetFilter(new URLSearchParams(query))).toEqual(ownAssets);
    },
  );

  it('rejects duplicate tags and more than the limit', () => {
    const many = Array.from({ length: 14 }, (_, at) => `tag=t${at % 12}`).join('&');
    expect(readAssetFilter(new URLSearchParams(many)).tags).toHaveLength(10);
  });
});

test('reads an asset again while it is rendered, and for a minute after its upload', () => {
  const at = Date.parse('2026-03-01T12:00:00.000Z');
  const made = (age: number, given = {}) =>
    rereadAfter(assetOf('a', { created_at: new Date(at - age).toISOString(), ...given }), at);
  expect([made(0), made(59_000), made(61_000), made(-3_600_000)]).toEqual([2000, 2000, false, false]);
  expect(made(3_600_000, { processing_status: 'pending' })).toBe(2000);
  expect(rereadAfter({ id: 'a', restricted: true }, at)).toBe(false);
});

describe('a changed asset', () => {
  const asset = assetOf('a', { sensitivity: 'public', title: 'Pier', tags: ['sea'], ai_provenance: 'none' });

  it('sends only changes, including a withdrawn declaration', () => {
    const draft = draftOf(asset);
    const patch = (given: Partial<typeof draft>) => assetPatch(asset, { ...draft, ...given });
    expect(patch({})).toEqual({});
    expect(patch({ declared: 'undeclared', tags: [] })).toEqual({ clear_ai_provenance: true, tags: [] });
    const generated = { ai_provenance: 'generated', mature: true };
    expect(patch({ declared: 'generated', mature: true })).toEqual(generated);
  });

  it('reports concurrent changes, but not finished previews', () => {
    const pending = { ...asset, processing_status: 'pending' as const };
    expect(changesBetween(pending, { ...asset, updated_at: '2026-02-01T00:00:00.000Z' })).toEqual([]);
    const newer = { ...asset, title: 'Quay', tags: ['sea', 'fog'] };
    expect(changesBetween(asset, newer)).toEqual(['title', 'tags']);
  });
});

describe('who sees an asset', () => {
  it('may be changed by those who see its sensitivity', () => {
    expect(mayChange(assetOf('a'))).toBe(false);
    expect(mayChange(assetOf('a', { sensitivity: 'public' }))).toBe(true);
  });

  it.each([
    [{ sensitivity: 'public', anonymously_visible: true }, /^Everyone who signs in, and visitors/],
    [{ sensitivity: 'public', processing_status: 'pending' }, /^Everyone who signs in\. Visitors too/],
    [{ sensitivity: 'public', processing_status: 'failed' }, /^Only the owner and administrators, until/],
    [{ sensitivity: 'public', status: 'draft' }, /because it is a draft/],
    [{ sensitivity: 'team', team_id: team }, /^Members of its team/],
    [{ sensitivity: 'team' }, /it belongs to no team/],
    [{ sensitivity: 'posts' }, /^Everyone who can read a post of yours/],
    [{ sensitivity: 'org' }, /^Everyone who signs in, regardless of its posts\. Never visitors/],
    [{ sensitivity: 'restricted' }, /^You, and people you share the file with\. Others see an empty frame/],
    [{ sensitivity: 'public', anonymously_visible: true, mature: true }, /chose to see mature content/],
    [{}, /^You, and others it is shared with/],
  ] as const)('%j', (given, words) => {
    expect(audienceText(assetOf('a', given))).toMatch(words);
  });

  it('offers team visibility only in a team', () => {
    const offered = sensitivityChoices(assetOf('a', { sensitivity: 'public' }));
    expect(offered).toEqual(['posts', 'org', 'public', 'restricted']);
    expect(sensitivityChoices(assetOf('a', { sensitivity: 'team' }))).toContain('team');
    expect(sensitivityChoices(assetOf('a', { sensitivity: 'public', team_id: team }))).toContain('team');
  });
});

describe('a mature picture', () => {
  const unserved = { mature: true, preview_available: false, ladder_available: false, thumbhash: 'abcd' };

  it('is blurred when it exists but is not served', () => {
    expect(isVeiled(assetOf('a', unserved))).toBe(true);
    expect(isVeiled(assetOf('a', { ...unserved, mature: false }))).toBe(false);
    expect(isVeiled(assetOf('a', { ...unserved, thumbhash: null }))).toBe(false);
    expect(isVeiled(assetOf('a', { ...unserved, processing_status: 'failed' }))).toBe(false);
    expect(isVeiled(assetOf('a', { mature: true }))).toBe(false);
  });

  it('gives the reason, and links to preferences only for people who have them', () => {
    const user = userOf({ mature_content_allowed: true });
    expect(explainBlur(user)).toMatchObject({ choosable: true });
    expect(explainBlur({ ...user, mature_content_allowed: false })).toMatchObject({ choosable: false });
    expect(explainBlur(null)).toMatchObject({ choosable: false });
  });
});

describe('facts in words', () => {
  it('turns keys into words', () => {
    const words = ['camera_make', 'cameraMake', 'gps_coordinates', '_'].map(keyInWords);
    expect(words).toEqual(['Camera make', 'Camera make', 'GPS coordinates', '_']);
  });

  it('expands metadata by one level and drops empty values', () => {
    const metadata = { iso: 100, note: ' ', keywords: ['a', 'b'], exif: { lens: '50 mm', x: null } };
    expect(metadataFacts(metadata)).toEqual([
      { name: 'ISO', value: '100' },
      { name: 'Keywords', value: 'a, b' },
      { name: 'EXIF: Lens', value: '50 mm' },
    ]);
  });

  it('shows the source of a tag', () => {
    expect(sourceOf({ value: 'a', source: 'manual' })).toBe('by hand');
    const suggested = { value: 'a', source: 'ai', confidence: 0.917 } as const;
    const by = { created_by_provider: 'local', created_by_model: 'tagger 2' };
    expect(sourceOf(suggested)).toBe('by AI, 92 % sure');
    expect(suggesterOf({ ...suggested, ...by })).toBe('local tagger 2');
    expect(suggesterOf({ value: 'a', source: 'manual', created_by_model: null })).toBeUndefined();
  });
});
