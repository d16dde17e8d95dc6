import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { Topic } from '../../platform/http/event-streams.ts';

/** Rows of streams that were not renewed for this long belong to a process that was killed. `tell_link` has the same limit. */
export const GONE_AFTER = sql`interval '60 seconds'`;

export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Keeps a proxy from buffering the response.
  'x-accel-buffering': 'no',
};

/** Opens a stream; ends its topic when there are too many. */
export async function openOrEnd(topic: Topic | undefined, open: () => Readable): Promise<Readable> {
  try {
    return open();
  } catch (error) {
    await topic?.end();
    throw error;
  }
}
