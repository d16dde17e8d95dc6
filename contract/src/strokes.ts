import { type Static, type TSchema, Type } from 'typebox';
import { drawingBounds } from './limits.ts';
import { closed } from './values.ts';

const mostPointsOfStroke = 5000;

/** What a stroke looks like; clients choose what is left out. */
const look = {
  color: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$' })),
  /** The width of the line, or the height of the letters, as a fraction of the width of what is drawn on. */
  width: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

/** BOARD-6: strokes whose points are pairs of these coordinates. */
function strokeWith<C extends TSchema>(coordinate: C) {
  const place = Type.Array(coordinate, { minItems: 2, maxItems: 2 });
  const two = Type.Array(place, { minItems: 2, maxItems: 2 });
  return Type.Union([
    closed({
      tool: Type.Optional(Type.Literal('pen')),
      /** x, y and, if the pen reports it, the pressure from 0 to 1. */
      points: Type.Array(Type.Array(coordinate, { minItems: 2, maxItems: 3 }), {
        minItems: 1,
        maxItems: mostPointsOfStroke,
      }),
      ...look,
    }),
    /** From its tail to its head. */
    closed({ tool: Type.Literal('arrow'), points: two, ...look }),
    /** Two opposite corners. */
    closed({ tool: Type.Literal('rect'), points: two, ...look }),
    /** The upper left corner of its first line. */
    closed({
      tool: Type.Literal('text'),
      points: Type.Array(place, { minItems: 1, maxItems: 1 }),
      text: Type.String({ minLength: 1, maxLength: 500 }),
      ...look,
    }),
  ]);
}

/** A stroke on a picture, a frame or a page, in fractions of it. */
export const Stroke = strokeWith(Type.Number({ minimum: 0, maximum: 1 }));
export type Stroke = Static<typeof Stroke>;

/** The drawing of an annotation. */
export const Strokes = Type.Array(Stroke, { minItems: 1, maxItems: drawingBounds.strokes });

/** A stroke on a whiteboard, in fractions of it; it may be slightly beyond the edges. */
export const BoardStroke = strokeWith(Type.Number({ minimum: -10, maximum: 10 }));

/** The drawing of a whiteboard, which may be empty. */
export const BoardStrokes = Type.Array(BoardStroke, { maxItems: drawingBounds.strokes });
