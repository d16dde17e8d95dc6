import { readFile, writeFile } from 'node:fs/promises';
import { residentMegabytes } from './processor-time.ts';

const SAMPLED_EVERY_MS = 50;

async function megabytes(pid: number, key: 'VmHWM' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
}

/**
 * Begins to measure the memory of a process. Returns a function that returns the megabytes that it had, and by how many it
 * exceeded them at most. Linux only.
 */
export async function peakMemory(pid: number): Promise<() => Promise<{ before: number; growth: number }>> {
  // Resets the maximum.
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await megabytes(pid, 'VmRSS');
  return async () => ({ before, growth: (await megabytes(pid, 'VmHWM')) - before });
}

/**
 * Begins to sample the resident memory of a process. Returns a function that stops and returns the largest sample in MB, even if
 * the process has ended.
 */
export function sampleMemory(pid: number): () => number {
  let most = 0;
  const sampling = setInterval(() => {
    const sample = (now: number) => {
      // A process that is ending has no resident memory.
      most = Math.max(most, now || 0);
    };
    void residentMegabytes(pid).then(sample, () => undefined);
  }, SAMPLED_EVERY_MS);
  return () => {
    clearInterval(sampling);
    return most;
  };
}
