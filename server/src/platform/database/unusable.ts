import { LibraryInUse } from './instance-lock.ts';

/** The database cannot be used. The message is one line that names the setting to check. */
export class DatabaseUnusable extends Error {}

/** Returns an environment or server error in one line; our own errors are returned unchanged. */
export function unusable(setting: string, error: unknown): unknown {
  const isOurs = error instanceof LibraryInUse || !(error instanceof Error) || error instanceof TypeError;
  if (isOurs) return error;
  // When several addresses all refuse, the error has no message of its own.
  const code = 'code' in error ? String(error.code) : error.name;
  const message = error.message.trim().replaceAll(/\s*\n\s*/g, '; ');
  return new DatabaseUnusable(`${setting}: ${message === '' ? code : message}`, { cause: error });
}
