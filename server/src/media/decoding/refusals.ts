import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';
import { isFaultOfTheMachine } from '../faults.ts';
import { FileFault, NotDrawable, undecodable } from '../still.ts';
import type { DecoderTask, DecoderTasks } from '../tasks.ts';

const nothing = { extras: [], facts: {}, text: null, exif: {} };

function detailOf(error: unknown): { detail?: string } {
  return error instanceof Error ? { detail: (error.stack ?? error.message).slice(0, 1000) } : {};
}

/** Returns what is wrong with the file. */
function reasonOf(error: unknown): Sentence {
  return error instanceof FileFault ? error.sentence : undecodable('');
}

/** What each task answers about a file that made a library fail in an unexpected way. */
const refusals: {
  [T in DecoderTask]?: (reason: Sentence, error: unknown) => DecoderTasks[T]['output'];
} = {
  ladder: (reason, error) => ({
    ...nothing,
    ladder:
      error instanceof NotDrawable
        ? { outcome: 'unsupported', reason }
        : { outcome: 'broken', reason, ...detailOf(error) },
  }),
  transcode: (reason) => ({ outcome: 'broken', reason }),
  tiles: (reason) => saySentence('en', reason),
  preview: () => false,
  logo: () => ({ fault: 'logo-undecodable' }),
  subtitles: (reason) => ({
    outcome: 'refused',
    reason: sentence('the file is damaged: {reason}', { reason }),
  }),
};

/**
 * Returns the answer of a task whose file made a library fail, so that no file is tried again for what it is; null if
 * the machine is at fault, or if the task has no such answer.
 */
export function refusalOf<T extends DecoderTask>(task: T, error: unknown): DecoderTasks[T]['output'] | null {
  if (isFaultOfTheMachine(error)) return null;
  return refusals[task]?.(reasonOf(error), error) ?? null;
}
