import { createHash } from 'node:crypto';

/** Returns what stands for a text in the built scripts until the pages of a language are written. */
export const markOf = (key: string) =>
  `%%t.${createHash('sha256').update(key.trim()).digest('hex').slice(0, 12)}%%`;

/** Matches marks, with the quotes of a literal that is nothing else. */
export const marks = /(["'`])?(%%t\.[0-9a-f]{12}%%)(\1)?/g;
