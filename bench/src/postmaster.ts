import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the process id of the embedded PostgreSQL of a running library: the first line of its pid file. */
export async function postmasterOf(directory: string): Promise<number> {
  return Number((await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);
}
