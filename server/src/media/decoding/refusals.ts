import { isFaultOfTheMachine } from '../faults.ts';
import { BrokenFile, NotDrawable } from '../still.ts';
import type { DecoderTask, DecoderTasks } from '../tasks.ts';

const nothing = { extras: [], facts: {}, text: null, exif: {} };

function detailOf(error: unknown): { detail?: string } {
  return error instanceof Error ? { detail: (error.stack ?? error.message).slice(0, 1000) } : {};
}

/** What each task answers about a file that made a library fail in an unexpected way. */
const refusals: {
  [T in DecoderTask]?: (reason: string, error: unknown) => DecoderTasks[T]['output'];
} = {
  ladder: (reason, error) => ({
    ...nothing,
    ladder:
      error instanceof NotDrawable
        ? { outcome: 'unsupported', reason }
        : { outcome: 'broken', reason, ...detailOf(error) },
  }),
  transcode: (reason) => ({ outcome: 'broken', reason }),
  tiles: (reason) => reason,
  preview: () => false,
  logo: () => ({ fault: 'logo-undecodable' }),
  subtitles: (reason) => ({ outcome: 'refused', reason: `the file is damaged: ${reason}` }),
};

/**
 * Returns the answer of a task whose file made a library fail, so that no file is tried again for what it is; null if
 * the machine is at fault, or if the task has no such answer.
 */
export function refusalOf<T extends DecoderTask>(task: T, error: unknown): DecoderTasks[T]['output'] | null {
  if (isFaultOfTheMachine(error)) return null;
  const known = error instanceof NotDrawable || error instanceof BrokenFile;
  return refusals[task]?.(known ? error.message : 'it cannot be decoded', error) ?? null;
}
