import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../../../src/exchange/federation/protocol/envelope.ts';
import { rejectionBy } from './reason.ts';
import { alice, asset, bob, bodies, definition, envelopeOf, post, uris } from './samples.ts';

const rejectionOf = (value: unknown) => rejectionBy(() => readEnvelope(value));
const reasonOf = (value: unknown) => rejectionOf(value).reason;
const like = { type: 'Like', object: uris.post };
const target = { object_kind: 'post', object: uris.post, target_peer: 'https://studio-b.example' };
const share = bodies.find(({ type }) => type === 'aa:Share') ?? like;

// FED-5
describe('envelopes', () => {
  test.each(bodies)('of type $type are read', (body) => {
    const read = { type: body.type, actor: alice, to: [bob], cc: [alice] };
    expect(readEnvelope(envelopeOf(body))).toMatchObject(read);
  });

  // Protocol §3.4.
  test('may leave out recipients', () => {
    const { to, cc, ...rest } = envelopeOf(like);
    expect(readEnvelope(rest)).toMatchObject({ to: [], cc: [] });
    expect(readEnvelope({ ...rest, to: [], cc: [] })).toMatchObject({ to: [], cc: [] });
  });

  // Protocol §7.5 and §3 as they are printed there, with UUIDs and a signature filled in.
  test.each([
    { type: 'aa:Share', ...target, target_user: bob, scope: 'view', expires_at: '2026-12-31T23:59:59Z' },
    { type: 'aa:Unshare', ...target, target_user: null },
    {
      type: 'aa:Approve',
      to: [bob],
      cc: [],
      object: uris.asset,
      'aa:comment': 'Approved with minor lighting note.',
      'aa:reviewedAt': '2026-06-04T10:00:00Z',
    },
  ])('of the protocol document are read: $type', (body) => {
    expect(rejectionOf(envelopeOf(body))).toEqual({ reason: 'accepted', detail: '' });
  });

  test('have the context of the protocol, exactly', () => {
    const base = '://artist-alley.org/protocol';
    const others = [`https${base}/v2`, `https${base}/v1/`, `http${base}/v1`, [`https${base}/v1`]];
    for (const context of [undefined, null, 'https://www.w3.org/ns/activitystreams', ...others])
      expect(reasonOf({ ...envelopeOf(like), '@context': context })).toBe('invalid_context');
  });

  test('have a known type', () => {
    for (const type of ['Add', 'aa:BrandKit', 'like', 'toString', '__proto__', ''])
      expect([type, reasonOf(envelopeOf({ type }))]).toEqual([type, 'unsupported_type']);
    for (const type of [1, null, ['Like'], undefined])
      expect([type, reasonOf({ ...envelopeOf(like), type })]).toEqual([type, 'malformed']);
    const image = envelopeOf({ type: 'Create' }, { object: { ...asset, type: 'Image' } });
    expect(reasonOf(image)).toBe('unsupported_type');
  });

  test.each([null, 1, 'x', [], [{}], undefined])('are objects, not %j', (value) => {
    expect(reasonOf(value)).toBe('malformed');
  });

  // Protocol §3.2. mutations.test.ts adds properties everywhere.
  test.each([
    ['envelope.aa:more', envelopeOf(share, { 'aa:more': 1 })],
    [
      'object.members.0.more',
      envelopeOf({ type: 'Create' }, { object: { ...post, members: [{ ...asset, more: 1 }] } }),
    ],
    ['object.draft', envelopeOf({ type: 'Create' }, { object: { ...post, draft: true } })],
    ['object.ai_provenance', envelopeOf({ type: 'Update' }, { object: { ...asset, ai_provenance: 'none' } })],
  ])('are refused with an unknown property, which the reason names: %s', (path, envelope) => {
    const detail = expect.stringContaining(path);
    expect(rejectionOf(envelope)).toEqual({ reason: 'unknown_field', detail });
  });

  // Access and lifecycle are matters of each install.
  test('of field definitions have no property that is local', () => {
    for (const local of [
      { read_only: true },
      { mirrors_column: 'title' },
      { read_capability: 'x' },
      { write_capability: 'x' },
      { applies_to: [1] },
      { extraction_source: 'title' },
      { status: 'archived' },
      { deprecated_replacement_id: null },
      { options: { values: [{ value: 'a', status: 'archived' }] } },
      { default_value: { kind: 'literal', value_ref: '11111111-1111-4111-8111-111111111111' } },
    ]) {
      const definitions = { type: 'aa:FieldDefinitions', attributedTo: alice, updated: post.updated };
      const object = { ...definitions, items: [{ ...definition, ...local }] };
      expect([local, reasonOf(envelopeOf({ type: 'Update' }, { object }))]).toEqual([local, 'unknown_field']);
    }
  });

  test('come from the install of their actor', () => {
    const foreign = 'https://studio-b.example/activities/11111111-1111-4111-8111-111111111111';
    expect(reasonOf(envelopeOf(like, { id: foreign }))).toBe('malformed');
    expect(reasonOf(envelopeOf(like, { actor: bob }))).toBe('malformed');
    const objects = [
      { ...post, attributedTo: bob },
      { ...post, team: { ...post.team, id: uris.workspace.replace('studio-a', 'studio-b') } },
      { ...post, members: [{ ...asset, attributedTo: bob }] },
      { ...post, members: [asset, asset] },
      { ...asset, width: undefined },
      { ...asset, subtitles: [...asset.subtitles, { ...asset.subtitles[0], lang: 'EN' }] },
    ];
    for (const object of objects) {
      const sent = JSON.parse(JSON.stringify(envelopeOf({ type: 'Create' }, { object })));
      expect(reasonOf(sent)).toBe('malformed');
    }
  });

  test('state shares with consistent parts', () => {
    expect(reasonOf(envelopeOf(share, { object_kind: 'asset' }))).toBe('malformed');
    expect(reasonOf(envelopeOf(share, { object_kind: 'user' }))).toBe('malformed');
    expect(reasonOf(envelopeOf(share, { object_kind: 'user', object: alice }))).toBe('accepted');
    expect(reasonOf(envelopeOf(share, { target_user: alice }))).toBe('malformed');
    expect(reasonOf(envelopeOf(share, { target_peer: 'https://studio-b.example/' }))).toBe('malformed');
    expect(reasonOf(envelopeOf(share, { scope: 'own' }))).toBe('malformed');
    const whole = readEnvelope(envelopeOf(share, { target_user: null, expires_at: null }));
    expect(whole).not.toHaveProperty('target_user');
    expect(whole).not.toHaveProperty('expires_at');
  });

  test('undo a like by what was liked', () => {
    const expected = { type: 'Undo', object: { type: 'Like', object: uris.post } };
    expect(readEnvelope(envelopeOf({ type: 'Undo' }, { object: uris.post }))).toMatchObject(expected);
    expect(readEnvelope(envelopeOf({ type: 'Undo' }, { object: expected.object }))).toMatchObject(expected);
    expect(reasonOf(envelopeOf({ type: 'Undo' }, { object: uris.activity }))).toBe('malformed');
  });

  test.each([
    '2026-06-04',
    '2026-06-04T10:00:00',
    '2026-06-04 10:00:00Z',
    '2026-02-30T10:00:00Z',
    '2026-06-04T24:00:00Z',
    '2026-06-04T23:59:60Z',
    '2026-06-04T10:00:00+15:00',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '+12026-06-04T10:00:00Z',
    'Thu, 04 Jun 2026 10:00:00 GMT',
    1_780_000_000,
  ])('have no time like %j', (published) => {
    expect(reasonOf(envelopeOf(like, { published }))).toBe('malformed');
  });

  test('keep the addresses of bytes ready for use', () => {
    const envelope = readEnvelope(envelopeOf({ type: 'Update' }, { object: asset }));
    expect(envelope).toMatchObject({
      object: {
        url: { hash: '0f'.repeat(32), contentType: 'video/mp4', size: 1_234_567 },
        renditions: { col: { url: { contentType: 'image/webp', size: 4321 }, width: 320, height: 180 } },
        subtitles: [{ lang: 'en', url: { contentType: 'text/vtt', size: 77 } }],
      },
    });
  });

  const ofAsset = (changes: object) => envelopeOf({ type: 'Update' }, { object: { ...asset, ...changes } });

  test.each([
    ['audio/ogg; codecs=opus', 'opus'],
    ['application/gzip', 'tar.gz'],
    ['application/x-compress', 'Z'],
  ])('have every type and extension that files are recognised as: %s', (mediaType, extension) => {
    expect(reasonOf(ofAsset({ mediaType, extension }))).toBe('accepted');
  });

  test('have no names of files or renditions that lead elsewhere', () => {
    for (const extension of ['', '.', '../x', 'a/b', 'a.b.c', ' '])
      expect([extension, reasonOf(ofAsset({ extension }))]).toEqual([extension, 'malformed']);
    for (const fileName of ['', '.', '..', 'a/b', '../a', 'a\\b', 'a\nb', 'x'.repeat(256)])
      expect([fileName, reasonOf(ofAsset({ fileName }))]).toEqual([fileName, 'malformed']);
    for (const key of ['', '../x', 'a/b', 'hls/../x', '.hidden', 'hls/', 'a b'])
      expect(reasonOf(ofAsset({ renditions: { [key]: asset.renditions.col } })), key).not.toBe('accepted');
  });
});
