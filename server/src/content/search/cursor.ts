import type { SearchKind } from '@vitrine/contract/search';
import { Type } from 'typebox';
import { CursorTime, cursorCodec } from '../../platform/http/cursor.ts';

/** A hit: what it is, and its sort key. */
export interface Hit {
  kind: SearchKind;
  id: string;
  at: string;
  score: number;
  fuzzy: boolean;
}

/** The cursor of a hit: its sort key, with its kind before its id. */
export const hitCursor = cursorCodec(
  'hit',
  Type.Object({
    score: Type.Number({ minimum: 0, maximum: 1e9 }),
    at: CursorTime,
    key: Type.String({ pattern: '^[a-z]+:[^\\u0000]{1,300}$' }),
  }),
);
export type Position = Parameters<typeof hitCursor.after>[0];

/** Returns the cursor of the page after this hit. */
export function cursorAfter({ score, at, kind, id }: Hit): string {
  return hitCursor.after({ score, at, key: `${kind}:${id}` });
}
