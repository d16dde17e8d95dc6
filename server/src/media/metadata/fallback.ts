import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Entry } from './fallback-entries.ts';

/** The memory a thread may take for one file, in MB. */
const MEMORY_MB = 512;

/** Reads a file without ExifTool in a thread of its own; rejects when it takes too long or is more than the thread can bear. */
export async function readInThread(path: string, timeoutMs: number): Promise<Entry[]> {
  const worker = new Worker(new URL('./fallback-worker.ts', import.meta.url), {
    workerData: path,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  // It may run out of memory at the very moment it is given up; told to nobody, that would end the process.
  worker.on('error', () => {});
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('the file took too long')), timeoutMs);
  try {
    const [message]: unknown[] = await once(worker, 'message', { signal: limit.signal });
    const entries: Entry[] = JSON.parse(String(message));
    return entries;
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
