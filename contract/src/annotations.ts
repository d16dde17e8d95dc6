import { type Static, Type } from 'typebox';
import { Stroke, Strokes } from './strokes.ts';
import { closed, nullable, Uuid } from './values.ts';
import { VersionNumber } from './versions.ts';

/** Where in a file an annotation is. Operations are those of comments (comments.ts). */

/** A fraction of the width or height of the picture, so that it holds for every rendition. */
const Fraction = Type.Number({ minimum: 0, maximum: 1 });

/** Seconds from the beginning of a film or sound. */
const Seconds = Type.Number({ minimum: 0, maximum: 10_000_000 });

/** The point or rectangle of a frame or page; `x` and `y` belong together, and `w` and `h`, which need them. */
const place = {
  x: Type.Optional(Fraction),
  y: Type.Optional(Fraction),
  w: Type.Optional(Fraction),
  h: Type.Optional(Fraction),
};

/** A position in the space of a 3D model. */
const Position = Type.Array(Type.Number({ minimum: -1e9, maximum: 1e9 }), { minItems: 3, maxItems: 3 });

const PointAnchor = closed({ kind: Type.Literal('point'), x: Fraction, y: Fraction });
const RegionAnchor = closed({
  kind: Type.Literal('region'),
  x: Fraction,
  y: Fraction,
  w: Fraction,
  h: Fraction,
});
/** A free shape, which its last point connects to its first. */
const ShapeAnchor = closed({
  kind: Type.Literal('shape'),
  points: Type.Array(Type.Array(Fraction, { minItems: 2, maxItems: 2 }), { minItems: 2, maxItems: 1000 }),
});
/** A moment, or the range from `start` until `end`; `end` is exclusive. */
const TimeAnchor = closed({
  kind: Type.Literal('time'),
  start: Seconds,
  end: Type.Optional(Seconds),
  ...place,
});
/** A page of a document, counted from 1. */
const PageAnchor = closed({
  kind: Type.Literal('page'),
  page: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  ...place,
});
/** A view of a 3D model, and the point on it. */
const CameraAnchor = closed({
  kind: Type.Literal('camera'),
  position: Position,
  target: Position,
  point: Type.Optional(Position),
});

/** ANNOTATION-2. */
export const Anchor = Type.Union([
  PointAnchor,
  RegionAnchor,
  ShapeAnchor,
  TimeAnchor,
  PageAnchor,
  CameraAnchor,
]);
export type Anchor = Static<typeof Anchor>;

/** The text of a comment: up to 10,000 characters, of which one is visible. */
export const CommentBody = Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S' });

/** What annotates a file: with a body, a drawing or both. */
export const NewAnnotation = closed({
  asset_id: Uuid,
  version: Type.Optional(nullable(VersionNumber)),
  anchor: Anchor,
  body: Type.Optional(nullable(CommentBody)),
  strokes: Type.Optional(nullable(Strokes)),
});

/** What a comment is about: a file of the post, the version of it, a place in it, and what was drawn there. */
export const Annotation = closed({
  asset_id: Uuid,
  version: VersionNumber,
  anchor: Anchor,
  strokes: Type.Optional(Type.Array(Stroke)),
});
export type Annotation = Static<typeof Annotation>;

/** ANNOTATION-6: how many annotations of a file are open and resolved. */
export const AnnotationCount = closed({
  asset_id: Uuid,
  open: Type.Integer({ minimum: 0 }),
  resolved: Type.Integer({ minimum: 0 }),
});
export type AnnotationCount = Static<typeof AnnotationCount>;
