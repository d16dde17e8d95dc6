import { signEnvelope } from '../../../src/exchange/federation/protocol/signature.ts';
import { privateKeyOf } from './keys.ts';

/** Alice of studio A, who signs every sample. */
export const alice = 'https://studio-a.example/users/alice';
export const bob = 'https://studio-b.example/users/bob';
export const alicesKey = privateKeyOf(Buffer.alloc(32, 3));

const a = 'https://studio-a.example';
const id = (digit: string) => `${digit.repeat(8)}-1111-4111-8111-111111111111`;
export const uris = {
  post: `${a}/posts/${id('1')}`,
  asset: `${a}/assets/${id('2')}`,
  collection: `${a}/collections/${id('3')}`,
  workspace: `${a}/workspaces/${id('4')}`,
  comment: `${a}/posts/${id('1')}#comment-${id('5')}`,
  activity: `https://studio-b.example/activities/${id('6')}`,
};
const cas = (type: string, size: number) => `cas://${'0f'.repeat(32)}?content-type=${type}&size=${size}`;
const times = { published: '2026-06-01T08:00:00Z', updated: '2026-06-02T08:00:00.250Z' };

const team = {
  type: 'aa:Workspace',
  id: uris.workspace,
  attributedTo: alice,
  name: 'Lighting',
  slug: 'lighting',
  description: 'Everything about light',
  updated: times.updated,
};

const described = { code: 'shot', label: 'Shot' };
export const asset = {
  type: 'aa:Asset',
  id: uris.asset,
  attributedTo: alice,
  name: 'Harbour at dawn',
  content: 'The first take.',
  tags: ['harbour', 'dawn'],
  sensitivity: 'posts',
  mature: false,
  assetKind: 'video',
  mediaType: 'video/mp4',
  extension: 'mp4',
  fileName: 'harbour.mp4',
  url: cas('video/mp4', 1_234_567),
  width: 1920,
  height: 1080,
  thumbhash: '3OcRJYB4d3h/iIeHeEh3eIhw+j2w',
  media: { duration_seconds: 12.5, frame_rate: 25, has_video: true, has_sound: false, video_codec: 'h264' },
  renditions: {
    col: { url: cas('image/webp', 4321), width: 320, height: 180 },
    'hls/master.m3u8': { url: cas('application/vnd.apple.mpegurl', 321) },
    'sprites.vtt': { url: cas('text/vtt', 99) },
  },
  subtitles: [
    { lang: 'en', label: 'English', url: cas('text/vtt', 77), source_format: 'srt', confidence: 1 },
  ],
  fields: [
    { ...described, type: 'text', value: 'SH010' },
    { ...described, type: 'number', value: 24.5 },
    { ...described, type: 'boolean', value: true },
    { ...described, type: 'date', value: '2026-06-01' },
    { ...described, type: 'datetime', value: '2026-06-01T08:00:00+02:00' },
    { ...described, type: 'select', value: [{ value: 'wip', label: 'In progress' }] },
    { ...described, type: 'multi_select', value: ['a', 'b'].map((value) => ({ value, label: value })) },
    { ...described, type: 'reference', value: uris.asset },
  ],
  team,
  ...times,
};

export const post = {
  type: 'aa:Post',
  id: uris.post,
  attributedTo: alice,
  name: 'Harbour',
  content: 'Two takes — 😀',
  visibility: 'org-only',
  tags: ['harbour'],
  members: [asset],
  cover: uris.asset,
  coverThumbnail: uris.asset,
  coverFocus: { x: 0.5, y: 0.25 },
  commentsEnabled: true,
  mature: false,
  team,
  ...times,
};

export const definition = {
  type: 'aa:FieldDefinition',
  code: 'pipeline_stage',
  label: 'Stage',
  description: '',
  field_type: 'tree',
  subject_kind: 'asset',
  required: false,
  searchable: true,
  open_vocabulary: false,
  display_group: 'Production',
  display_order: 10,
  show_on_card: true,
  show_in_advanced_search: true,
  show_on_upload: true,
  edit_tab: 'Production',
  regexp_filter: 'SH[0-9]{3}',
  display_condition: ['work_type=film'],
  default_value: { kind: 'literal', value_text: 'wip' },
  options: {
    values: [{ value: 'wip', label: 'In progress', aliases: ['todo'], children: [{ value: 'first' }] }],
    max_length: 5,
  },
};

const share = {
  object_kind: 'post',
  object: uris.post,
  target_peer: 'https://studio-b.example',
  target_user: bob,
};
const review = { object: uris.asset, 'aa:comment': 'With a note.', 'aa:reviewedAt': '2026-06-04T10:00:00Z' };

/** Every activity with all its properties. */
export const bodies: readonly ({ type: string } & Record<string, unknown>)[] = [
  { type: 'Create', object: post },
  { type: 'Update', object: asset },
  {
    type: 'Create',
    object: {
      type: 'aa:Collection',
      id: uris.collection,
      attributedTo: alice,
      name: 'Harbours',
      content: '',
      visibility: 'public',
      expires: '2027-01-01T00:00:00Z',
      cover: uris.post,
      coverFocus: { x: 0, y: 1 },
      fields: [{ ...described, type: 'longtext', value: 'Long' }],
      items: [uris.post],
      ...times,
    },
  },
  {
    type: 'Create',
    object: {
      type: 'Note',
      id: uris.comment,
      attributedTo: alice,
      attributedToName: 'Alice',
      content: 'The light is lovely.',
      inReplyTo: 'https://studio-b.example/posts/99999999-1111-4111-8111-111111111111',
      ...times,
    },
  },
  { type: 'Update', object: team },
  {
    type: 'Update',
    object: { type: 'aa:FieldDefinitions', attributedTo: alice, updated: times.updated, items: [definition] },
  },
  { type: 'Delete', object: uris.post },
  { type: 'Like', object: uris.post },
  {
    type: 'Undo',
    object: { type: 'Like', id: `${a}/activities/${id('7')}`, actor: alice, object: uris.post },
  },
  { type: 'Follow', object: bob },
  { type: 'Accept', object: uris.activity },
  { type: 'Reject', object: uris.activity },
  { type: 'Announce', object: uris.post },
  { type: 'Block', object: bob },
  { type: 'aa:Share', ...share, scope: 'comment', expires_at: '2026-12-31T23:59:59Z' },
  { type: 'aa:Unshare', ...share },
  { type: 'aa:Approve', ...review },
  { type: 'aa:RequestChanges', ...review },
  { type: 'aa:MarkReviewed', ...review },
  { type: 'aa:Annotation', object: uris.asset, 'aa:comment': 'Here.' },
  {
    type: 'aa:WorkflowTransition',
    object: uris.post,
    'aa:from': 'wip',
    'aa:to': 'final',
    'aa:comment': 'Done.',
  },
  { type: 'aa:AssetVersion', object: uris.asset, 'aa:url': cas('image/png', 5) },
  { type: 'aa:Subscribe', object: uris.collection },
  { type: 'aa:Mention', object: bob, 'aa:comment': 'Look!' },
];

/** Returns the envelope of an activity, signed by Alice; `changes` replace its properties before. */
export function envelopeOf(body: { type: string }, changes: Record<string, unknown> = {}) {
  return signEnvelope(
    {
      '@context': 'https://artist-alley.org/protocol/v1',
      id: `${a}/activities/${id('8')}`,
      actor: alice,
      published: '2026-06-04T10:00:00Z',
      to: [bob],
      cc: [alice],
      ...body,
      ...changes,
    },
    `${alice}#main-key`,
    alicesKey,
  );
}
