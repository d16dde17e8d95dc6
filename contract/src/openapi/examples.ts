import type { Operation } from '../operation.ts';
import { isNull, isObject, type Json, type JsonObject, plainJson } from './json.ts';

const hash = '5f2b1c0de9a4f7737c1d8e0b64a7f95e21cb3a8f6d4e5b7091a2c3d4e5f60718';
const id = '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30';

/** Sample values by property name, used where the schema allows them. */
const samples: Readonly<Record<string, readonly Json[]>> = {
  address: ['203.0.113.7'],
  admin_username: ['mara'],
  aliases: [['harbor']],
  api_version: ['0.10.2'],
  applies_to: [[1]],
  asset_type: [1],
  avatar_url: [`/api/v1/assets/${id}/variants/col`],
  base_url: ['https://media.example.com'],
  bio: ['Photographs harbours.'],
  body: ['The light is lovely.'],
  body_font: ['inter'],
  brand_font: ['inter'],
  bytes: [2_481_152],
  capabilities: [['posts.create', 'assets.create']],
  capability: ['posts.comment'],
  code: ['image', 'camera'],
  code_required: [true],
  color: ['#1f6feb'],
  confidence: [0.93],
  content_type: ['image/png'],
  cover_focal_x: [0.5],
  cover_focal_y: [0.4],
  current_password: ['correct horse battery'],
  description: ['First light over the old harbour.'],
  detail: ['The last backup is one day old.'],
  digest: [{ every: 'day', hour: 8, weekday: 1 }],
  display_font: ['inter'],
  display_group: ['general'],
  display_name: ['Mara Lind'],
  display_order: [100],
  distance: [0.182],
  duration_seconds: [93.5],
  email: ['mara@example.com'],
  error: ['post not found'],
  event: ['post.published'],
  exact_frame_rate: ['24000/1001'],
  excerpt: ['The light is lovely.'],
  extension: ['jpg'],
  extraction_source: ['camera_model'],
  field_code: ['camera'],
  field_label: ['Camera'],
  file_extension: ['jpg'],
  file_hash: [hash],
  file_name: ['harbour.jpg'],
  file_size_bytes: [2_481_152],
  filter: [['field:camera=X100V']],
  format: ['webp', 'jpeg'],
  free_bytes: [412_316_860_416],
  from_address: ['vitrine@example.com'],
  from_name: ['Vitrine'],
  frame_rate: [25],
  fullname: ['Mara Lind'],
  hash: [hash],
  height: [1365],
  host: ['smtp.example.com'],
  interval: [1],
  key: ['preview'],
  label: ['Image', 'Camera'],
  lang: ['de'],
  language: ['en', 'english'],
  last_error: ['the decoder ran out of time'],
  levels: [14],
  limit: [50],
  logo_height: [64],
  logo_url: ['/api/v1/appearance/logo'],
  logo_width: [240],
  max_dim: [1024],
  message: ['250 queued'],
  metadata: [{ title: 'Harbour at dawn' }],
  mime: ['image/jpeg'],
  media_type: ['image/jpeg'],
  mono_font: ['jetbrains-mono'],
  name: ['Harbours', 'render'],
  new_password: ['staple battery horse'],
  next_cursor: ['eyJhdCI6IjIwMjYtMTEtMjEifQ'],
  note: ['Covers for Jonas in December.'],
  otpauth_url: ['otpauth://totp/Vitrine:mara?secret=JBSWY3DPEHPK3PXP&issuer=Vitrine'],
  page_count: [12],
  parent_name: ['Studio'],
  parent_slug: ['studio'],
  password: ['correct horse battery'],
  path: [['Places', 'Harbour']],
  pixel_height: [2730],
  pixel_width: [4096],
  points: [
    [
      [0.1, 0.2],
      [0.4, 0.25],
    ],
  ],
  port: [465],
  progress: [0.4],
  provider: ['password'],
  q: ['harbour'],
  quality: [82],
  reason: ['It shows someone who did not agree.'],
  recovery_codes: [Array.from({ length: 10 }, (_, at) => `K7Q2${at}-9XWMR`)],
  remedy: ['Run `vitrine backup` and keep its output elsewhere.'],
  remote_display_name: ['Ines'],
  requested_capability: ['content.access.request'],
  role: ['member'],
  scopes: [['read', 'posts.write']],
  score: [0.71],
  secret_base32: ['JBSWY3DPEHPK3PXP'],
  seconds: [12.5],
  site_name: ['Harbour Studio'],
  size_bytes: [18_204],
  slug: ['photography'],
  smtp_url: ['smtps://vitrine:secret@smtp.example.com:465'],
  source: ['camera_model', 'harbor', 'manual', 'title'],
  tag: ['harbour', ['harbour']],
  tags: [['harbour', 'dawn']],
  target: ['harbour'],
  target_username: ['jonas'],
  team_name: ['Photography'],
  temporary_password: ['mild-otter-4821'],
  terms: [['harbour', { value: 'lighthouse', label: 'Lighthouse' }]],
  text: ['Harbour at dawn'],
  thumbhash: ['3OcRJYB4d3h/iIeHeEh3eIhw+j2w'],
  tile_size: [512],
  time_zone: ['Europe/Berlin'],
  title: ['Harbour at dawn'],
  to: ['mara@example.com', 'harbour'],
  token: [
    'vt_scim_8sK2mQ9xT4vB7nL1cR5wZ3yH6jD0fGaP',
    'vt_pat_8sK2mQ9xT4vB7nL1cR5wZ3yH6jD0fGaP',
    'q7Xn2LpR8vTb4KsWc9ZyD1mHf6JgA3Ue',
  ],
  total_bytes: [1_000_204_886_016],
  totp_code: ['492039'],
  type: ['image/webp', 'text'],
  url: [`https://media.example.com/l/q7Xn2LpR8vTb4KsWc9ZyD1mHf6JgA3Ue`],
  user_agent: ['Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'],
  username: ['mara'],
  value: ['harbour', 'X100V', 1],
  value_text: ['X100V'],
  version: ['0.1.0'],
  video_codec: ['h264'],
  welcome_title: ['Welcome to Harbour Studio'],
  width: [2048, 0.01],
};

/** Omitted from examples: optional properties that appear only in some responses or contradict others. */
const leftOut =
  /^(clear_.*|deleted_.*|if_.*|value_(num|date|options|ref)|context|remote_display_name|restricted_.*|replaced_by|force)$/;

const day = '2026-11-21T09:30:00.000Z';

function text(schema: JsonObject, key: string): Json {
  if (schema.format === 'uuid') return id;
  if (schema.format === 'date-time') return /expire|run_at/.test(key) ? '2026-12-21T09:30:00.000Z' : day;
  if (typeof schema.pattern === 'string' && schema.pattern.includes('0-9a-f]{64}')) return hash;
  return 'text';
}

/** Returns whether a sample satisfies the type and bounds of a schema. */
function fits(schema: JsonObject, value: Json): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  if (Array.isArray(schema.anyOf))
    return schema.anyOf.some((branch) => isObject(branch) && fits(branch, value));
  switch (schema.type) {
    case 'string':
      return (
        typeof value === 'string' &&
        schema.format === undefined &&
        (typeof schema.pattern !== 'string' || new RegExp(schema.pattern, 'u').test(value))
      );
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && (typeof schema.maximum !== 'number' || value <= schema.maximum);
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return (
        Array.isArray(value) &&
        isObject(schema.items) &&
        value.every((item) => fits(asObject(schema.items), item))
      );
    case 'object':
      return isObject(value) && schema.properties === undefined;
    default:
      return false;
  }
}

function asObject(schema: Json | undefined): JsonObject {
  return isObject(schema) ? schema : {};
}

function number(schema: JsonObject, key: string): Json {
  if (/_ref$|^ref$/.test(key)) return 42;
  if (typeof schema.default === 'number') return schema.default;
  const least = typeof schema.minimum === 'number' ? schema.minimum : 1;
  if (least < 0) return 1;
  const most = typeof schema.maximum === 'number' ? schema.maximum : 3;
  return schema.type === 'integer' ? Math.min(Math.max(least, 3), most) : least;
}

function object(schema: JsonObject): Json {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = Object.entries(asObject(schema.properties)).filter(
    ([name]) => required.includes(name) || !leftOut.test(name),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, name)]));
}

/** Builds an example of a schema from the sample values of its properties. `key` is the name of the property. */
export function exampleOf(given: Json, key = ''): Json {
  const schema = asObject(given);
  const sample = samples[key]?.find((candidate) => fits(schema, candidate));
  if (sample !== undefined) return sample;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum))
    return schema.enum.find((value) => value !== '' && value !== 'none') ?? schema.enum[0] ?? '';
  if (Array.isArray(schema.anyOf))
    return exampleOf(schema.anyOf.find((branch) => !isNull(branch)) ?? null, key);
  switch (schema.type) {
    case 'object':
      return object(schema);
    case 'array':
      return Array.from({ length: Math.max(Number(schema.minItems ?? 1), 1) }, () =>
        exampleOf(schema.items ?? null, key.replace(/s$/, '')),
      );
    case 'integer':
    case 'number':
      return number(schema, key);
    case 'boolean':
      return !/capped|draft|truncated|dry_run|running|restricted|archived|mature|read_only|failed/.test(key);
    case 'string':
      return text(schema, key);
    default:
      return null;
  }
}

/** Returns the example of an operation's JSON body: its own, or one with the required properties and a few others. */
export function exampleRequest({ body, example }: Operation): Json {
  if (example !== undefined) return plainJson(example);
  const schema = asObject(body === undefined ? null : plainJson(body));
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = Object.entries(asObject(schema.properties));
  const optional = members.filter(([name]) => !required.includes(name) && !leftOut.test(name)).slice(0, 2);
  const shown = [...members.filter(([name]) => required.includes(name)), ...optional];
  return Object.fromEntries(shown.map(([name, member]) => [name, exampleOf(member, name)]));
}

const errors: Readonly<Record<number, string>> = {
  400: 'limit must be at most 200',
  401: 'sign in first',
  403: 'missing capability posts.create',
  404: 'post not found',
  405: 'method not allowed',
  408: 'the request did not arrive in time',
  409: 'the post has changed since',
  412: 'Tus-Resumable: 1.0.0 is required',
  413: 'the file is larger than this library allows',
  415: 'unsupported content type',
  416: 'range not satisfiable',
  422: 'camera: no such term',
  429: 'too many requests',
  431: 'request head too large',
  500: 'internal error',
  501: 'sidecar_not_installed',
  503: 'the database is not available',
  507: 'out of storage',
};

export function errorExample(status: number): Json {
  return { error: errors[status] ?? 'bad request' };
}
