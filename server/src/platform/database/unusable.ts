import { LibraryInUse } from './instance-lock.ts';

/** A database that cannot be had; its message is one line that names the setting to look at. */
export class DatabaseUnusable extends Error {}

/** A fault of the place or the server in one line; a fault of ours stays as it is. */
export function unusable(setting: string, error: unknown): unknown {
  const isOurs = error instanceof LibraryInUse || !(error instanceof Error) || error instanceof TypeError;
  if (isOurs) return error;
  // Several addresses that all refuse are one error without a message of its own.
  const code = 'code' in error ? String(error.code) : error.name;
  const told = error.message.trim().replaceAll(/\s*\n\s*/g, '; ');
  return new DatabaseUnusable(`${setting}: ${told === '' ? code : told}`, { cause: error });
}
