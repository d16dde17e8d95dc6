import type { SearchKind } from '@vitrine/contract/search';
import { refuse } from '../../platform/http/refuse.ts';

/** A hit: what it is, and its sort key. */
export interface Hit {
  kind: SearchKind;
  id: string;
  at: string;
  score: number;
  fuzzy: boolean;
}

/** The sort key of the last hit of the previous page. */
export interface Position {
  score: number;
  at: string;
  key: string;
}

/** Returns the cursor of the page after this hit. */
export function cursorAfter({ score, at, kind, id }: Hit): string {
  return Buffer.from(`hit ${score} ${at} ${kind}:${id}`).toString('base64url');
}

/** Decodes a cursor; null without one. A malformed cursor is 400. */
export function readCursor(cursor: string | undefined): Position | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, score, at, key] =
    /^hit (\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([a-z]+:.{1,300})$/s.exec(
      text,
    ) ?? [];
  if (score === undefined || at === undefined || key === undefined || key.includes('\0')) {
    throw refuse(400, 'malformed cursor');
  }
  if (Number.isNaN(Date.parse(at))) throw refuse(400, 'malformed cursor');
  return { score: Number(score), at, key };
}
