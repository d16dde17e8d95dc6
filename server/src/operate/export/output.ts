import type { Language } from '@vitrine/contract/languages';
import { say } from '../../platform/language/say.ts';
import { saySentence } from '../../platform/language/sentence.ts';
import type { LostFile } from './bag/entry.ts';

const PROGRESS_EVERY_MS = 2000;
/** How many lost files are named. */
const NAMED = 20;

/** Exit status when something was left out, which the output names. */
export const LEFT_OUT = 3;

/** Returns a function that prints how far a run is, from time to time. */
export function reporting<T>(lineOf: (state: T) => string): (state: T) => void {
  let lastPrintedAt = Date.now();
  return (state) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    console.error(lineOf(state));
  };
}

export function printLost(
  language: Language,
  lost: readonly LostFile[],
  print: (line: string) => void,
): void {
  const mark = say(language, 'LOST').padEnd(8);
  for (const { path, reason } of lost.slice(0, NAMED))
    print(`${mark} ${path}: ${saySentence(language, reason)}`);
}
