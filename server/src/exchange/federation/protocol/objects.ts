import { Anchor } from '@vitrine/contract/annotations';
import { Sensitivity, SubtitleTrack } from '@vitrine/contract/assets';
import { type FieldType, fieldTypes } from '@vitrine/contract/field-types';
import { Strokes } from '@vitrine/contract/strokes';
import { closed, Tags } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';
import type { WireForm } from '../../../content/fields/types/field-type.ts';
import { rulesOf } from '../../../content/fields/types/registry.ts';
import { type CasRef, parseActorUri, parseCasUri, parseCommentUri, parseObjectUri } from './addresses.ts';
import { checked } from './checked.ts';
import { type AaFieldDefinitions, FieldDefinitions } from './field-definitions.ts';
import { Rejection } from './rejection.ts';
import {
  ActorUri,
  Base64Url,
  CasUri,
  CommentUri,
  MediaType,
  objectUriOf,
  PostOrCommentUri,
  Time,
  text,
} from './values.ts';

const Fraction = Type.Number({ minimum: 0, maximum: 1 });
const Pixels = Type.Integer({ minimum: 1, maximum: 10_000_000 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Seconds = Type.Number({ minimum: 0, maximum: 1e9 });
const Focus = closed({ x: Fraction, y: Fraction });

/** The owner and times of an object. The receiver keeps the version with the latest `updated`. */
const common = { attributedTo: ActorUri, published: Time, updated: Time };

const Workspace = closed({
  type: Type.Literal('aa:Workspace'),
  id: objectUriOf('workspaces'),
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
  slug: Type.String({ minLength: 1, maxLength: 80, pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' }),
  description: text(500),
  attributedTo: ActorUri,
  updated: Time,
});
/** A team. */
export type AaWorkspace = Static<typeof Workspace>;

const described = { code: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), label: text(200) };
const Term = closed({ value: Type.String({ minLength: 1, maxLength: 200 }), label: text(200) });

/** The values of each form. */
const valueSchemas: Readonly<Record<WireForm, Parameters<typeof Type.Array>[0]>> = {
  text: text(100_000),
  number: Type.Number(),
  flag: Type.Boolean(),
  day: Type.String({ format: 'date', pattern: '^[1-8]' }),
  time: Time,
  term: Type.Array(Term, { minItems: 1, maxItems: 1 }),
  terms: Type.Array(Term, { minItems: 1, maxItems: 500 }),
  asset: objectUriOf('assets'),
};

const formOf = (type: FieldType) => rulesOf[type].federation.form;

/** A value that is readable without the definition; terms include their labels. */
const FieldValue = Type.Union(
  [...Map.groupBy(fieldTypes, formOf)].map(([form, types]) =>
    closed({ ...described, type: Type.Enum(types), value: valueSchemas[form] }),
  ),
);

/** A value in the form of its type. */
export type WireValue = string | number | boolean | { value: string; label: string }[];
/** The value of a field. */
export interface AaFieldValue {
  code: string;
  label: string;
  type: FieldType;
  value: WireValue;
}
const FieldValues = Type.Array(FieldValue, { maxItems: 200 });

/** The same names as the media facts of the API; seconds, frames per second, counts. */
const Facts = closed({
  duration_seconds: Type.Optional(Seconds),
  frame_rate: Type.Optional(Seconds),
  has_video: Type.Optional(Type.Boolean()),
  has_sound: Type.Optional(Type.Boolean()),
  video_codec: Type.Optional(text(100)),
  audio_codec: Type.Optional(text(100)),
  hdr: Type.Optional(Type.Boolean()),
  animated: Type.Optional(Type.Boolean()),
  poster_seconds: Type.Optional(Seconds),
  page_count: Type.Optional(Count),
});

const Rendition = closed({ url: CasUri, width: Type.Optional(Pixels), height: Type.Optional(Pixels) });

const Subtitle = closed({
  lang: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9-]+$' }),
  label: text(200),
  url: CasUri,
  source_format: SubtitleTrack.properties.source_format,
  confidence: Fraction,
});

const Asset = closed({
  ...common,
  type: Type.Literal('aa:Asset'),
  id: objectUriOf('assets'),
  name: text(500),
  content: text(20_000),
  tags: Tags,
  sensitivity: Type.Optional(Sensitivity),
  mature: Type.Boolean(),
  /** Types of assets are local; the receiver has one for each of these. */
  assetKind: Type.Enum(['image', 'document', 'video', 'audio', 'model', 'font', 'other']),
  mediaType: MediaType,
  extension: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]{1,20}(\\.[A-Za-z0-9]{1,20})?$' })),
  fileName: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^(?!\\.\\.?$)[^/\\\\\\u0000-\\u001f\\u007f]+$',
  }),
  url: CasUri,
  /** The key with which the sender encrypts the bytes and renditions; only in encrypted envelopes. */
  contentKey: Type.Optional(Base64Url.key),
  width: Type.Optional(Pixels),
  height: Type.Optional(Pixels),
  thumbhash: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9+/]+={0,2}$' })),
  media: Facts,
  /** By the last part of their address, such as `col` or `hls/master.m3u8`. */
  renditions: Type.Record(Type.String({ pattern: '^(hls/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,89}$' }), Rendition, {
    additionalProperties: false,
    maxProperties: 1000,
  }),
  subtitles: Type.Optional(Type.Array(Subtitle, { maxItems: 100 })),
  fields: Type.Optional(FieldValues),
  team: Type.Optional(Workspace),
});
type WireAsset = Static<typeof Asset>;

export interface AaRendition {
  url: CasRef;
  width?: number;
  height?: number;
}
export type AaSubtitle = Omit<Static<typeof Subtitle>, 'url'> & { url: CasRef };
/** An asset whose bytes are named by their hash. */
export type AaAsset = Omit<WireAsset, 'url' | 'renditions' | 'subtitles' | 'fields'> & {
  fields?: AaFieldValue[];
  url: CasRef & { contentType: string };
  renditions: Record<string, AaRendition>;
  subtitles?: AaSubtitle[];
};

/**
 * The visibilities of the protocol. Installs of every version accept these and no others, so `toPeers` in the contract
 * maps ours to them.
 */
const SentVisibility = Type.Enum(['public', 'private', 'org-only', 'followers', 'explicit-share']);

const Post = closed({
  ...common,
  type: Type.Literal('aa:Post'),
  id: objectUriOf('posts'),
  name: text(500),
  content: text(20_000),
  visibility: SentVisibility,
  tags: Tags,
  /** In order; only those that the receiver may have. */
  members: Type.Array(Asset, { maxItems: 200 }),
  cover: Type.Optional(objectUriOf('assets')),
  coverThumbnail: Type.Optional(objectUriOf('assets')),
  coverFocus: Type.Optional(Focus),
  commentsEnabled: Type.Boolean(),
  mature: Type.Boolean(),
  team: Type.Optional(Workspace),
});
export type AaPost = Omit<Static<typeof Post>, 'members'> & { members: AaAsset[] };

const Collection = closed({
  ...common,
  type: Type.Literal('aa:Collection'),
  id: objectUriOf('collections'),
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
  content: text(20_000),
  visibility: Type.Optional(SentVisibility),
  expires: Type.Optional(Time),
  cover: Type.Optional(objectUriOf('posts')),
  coverFocus: Type.Optional(Focus),
  fields: Type.Optional(FieldValues),
  /** The posts that the receiver may have, in order. They are sent separately. */
  items: Type.Array(objectUriOf('posts'), { maxItems: 10_000, uniqueItems: true }),
});
export type AaCollection = Omit<Static<typeof Collection>, 'fields'> & { fields?: AaFieldValue[] };

const Note = closed({
  ...common,
  type: Type.Literal('Note'),
  id: CommentUri,
  /** For receivers that cannot reach the install of the person. */
  attributedToName: text(200),
  /** The author at a third install and the name of that library, if the library of the post relays the comment. */
  onBehalfOf: Type.Optional(closed({ id: ActorUri, library: text(200) })),
  /** Empty only if it is a drawing. */
  content: text(10_000),
  /** The post, or the comment that is replied to. */
  inReplyTo: PostOrCommentUri,
  /** What it is about, for receivers that state `annotations-v1`: a member of the post as it is now, and a place in it. */
  annotation: Type.Optional(
    closed({ asset: objectUriOf('assets'), anchor: Anchor, strokes: Type.Optional(Strokes) }),
  ),
});
/** A comment. */
export type AaNote = Static<typeof Note>;

/** An object as sent inside Create and Update, with the addresses of bytes already parsed. */
export type AaObject = AaPost | AaAsset | AaCollection | AaNote | AaWorkspace | AaFieldDefinitions;

const checks = {
  'aa:Post': checked(Post, 'object'),
  'aa:Asset': checked(Asset, 'object'),
  'aa:Collection': checked(Collection, 'object'),
  Note: checked(Note, 'object'),
  'aa:Workspace': checked(Workspace, 'object'),
  'aa:FieldDefinitions': checked(FieldDefinitions, 'object'),
};

function readCas(uri: string): CasRef {
  const found = parseCasUri(uri);
  // The schema has checked it.
  if (found === null) throw new Rejection('malformed', 'not the address of bytes');
  return found;
}

/** The author of an object is a person of the install that has it, and so is its team. */
function checkOrigin(object: { id: string; attributedTo: string; team?: AaWorkspace }): void {
  const base = (parseObjectUri(object.id) ?? parseCommentUri(object.id))?.base;
  if (parseActorUri(object.attributedTo)?.base !== base)
    throw new Rejection('malformed', 'attributedTo belongs to another install than the object');
  if (object.team === undefined) return;
  if (parseObjectUri(object.team.id)?.base !== base)
    throw new Rejection('malformed', 'team belongs to another install than the object');
}

/** A relayed comment must be from another install than the one that relays it. */
function checkRelayed({ id, onBehalfOf }: AaNote): void {
  if (onBehalfOf !== undefined && parseActorUri(onBehalfOf.id)?.base === parseCommentUri(id)?.base)
    throw new Rejection('malformed', 'onBehalfOf belongs to the install of the comment');
}

/** A comment says or draws something, and only a root is about a place. */
function checkContent({ content, annotation, inReplyTo }: AaNote): void {
  if (!/\S/.test(content) && annotation?.strokes === undefined)
    throw new Rejection('malformed', 'content is empty');
  if (annotation !== undefined && parseObjectUri(inReplyTo) === null)
    throw new Rejection('malformed', 'a reply has no annotation');
}

function readAsset(asset: WireAsset): AaAsset {
  checkOrigin(asset);
  const both = [asset, ...Object.values(asset.renditions)].every(
    ({ width, height }) => (width === undefined) === (height === undefined),
  );
  if (!both) throw new Rejection('malformed', 'width and height go together');
  const langs = (asset.subtitles ?? []).map(({ lang }) => lang.toLowerCase());
  if (new Set(langs).size < langs.length) throw new Rejection('malformed', 'a language has two subtitles');
  const { subtitles, fields, ...rest } = asset;
  const url = readCas(asset.url);
  return {
    ...rest,
    url: { ...url, contentType: url.contentType ?? asset.mediaType },
    renditions: Object.fromEntries(
      Object.entries(asset.renditions).map(([key, rendition]) => [
        key,
        { ...rendition, url: readCas(rendition.url) },
      ]),
    ),
    // Static types do not follow the schemas of values; the schema has checked it.
    ...(fields && { fields: fields as AaFieldValue[] }),
    ...(subtitles && { subtitles: subtitles.map((track) => ({ ...track, url: readCas(track.url) })) }),
  };
}

function readPost(post: Static<typeof Post>): AaPost {
  checkOrigin(post);
  const members = post.members.map(readAsset);
  const ids = new Set(members.map(({ id }) => id));
  if (ids.size < members.length) throw new Rejection('malformed', 'an asset is a member twice');
  return { ...post, members };
}

/** Reads an object that came from a peer; throws Rejection. */
export function readObject(value: unknown): AaObject {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  if (typeof type !== 'string') throw new Rejection('malformed', 'object is no object with a type');
  switch (type) {
    case 'aa:Post':
      return readPost(checks[type](value));
    case 'aa:Asset':
      return readAsset(checks[type](value));
    case 'aa:Collection': {
      const object = checks[type](value);
      checkOrigin(object);
      // The schema has checked it.
      return object as AaCollection;
    }
    case 'Note': {
      const object = checks[type](value);
      checkOrigin(object);
      checkRelayed(object);
      checkContent(object);
      return object;
    }
    case 'aa:Workspace': {
      const object = checks[type](value);
      checkOrigin(object);
      return object;
    }
    case 'aa:FieldDefinitions':
      // Static types do not follow the recursion of terms; the schema has checked them.
      return checks[type](value) as AaFieldDefinitions;
    default:
      throw new Rejection('unsupported_type', `objects of type ${type.slice(0, 100)} are not supported`);
  }
}
