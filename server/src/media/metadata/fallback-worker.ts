// One thread that reads one file: a hostile file ends the thread, never the process.
import { parentPort, workerData } from 'node:worker_threads';
import { readEntries } from './fallback-entries.ts';

const path: unknown = workerData;
const entries = typeof path === 'string' ? await readEntries(path) : [];
// Functions and buffers that a library leaves in a tag are not told.
parentPort?.postMessage(JSON.stringify(entries));
