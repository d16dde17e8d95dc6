import type { ErrorCode } from './codes.ts';

/** The errors that reports of imports and other commands quote, in the language of their reader (LANGUAGE-7). */
export const quotedErrors = [
  'name-taken',
  'not-found',
  'not-owner',
  'link-mature-content',
  'too-many-links',
  'pattern-anchored',
  'pattern-too-long',
  'sidecar-too-large',
  'sidecar-unreadable',
] as const satisfies readonly ErrorCode[];
