import { LibraryInUse } from './instance-lock.ts';

/** The database cannot be used. The message is one line that names the setting to check. */
export class DatabaseUnusable extends Error {}

/** The driver's messages when the server asks for a password that the address lacks. */
const noPassword = /client password must be a/;

/** Returns why a connection failed, in one line that an operator can act on. */
export function connectionFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (noPassword.test(error.message))
    return 'the server asks for a password, and the address has none: postgres://NAME:PASSWORD@HOST/DATABASE';
  // When several addresses all refuse, the error has no message of its own.
  const code = 'code' in error ? String(error.code) : error.name;
  const message = error.message.trim().replaceAll(/\s*\n\s*/g, '; ');
  return message === '' ? code : message;
}

/** Returns an environment or server error in one line; our own errors are returned unchanged. */
export function unusable(setting: string, error: unknown): unknown {
  const isOurs = error instanceof LibraryInUse || !(error instanceof Error) || error instanceof TypeError;
  if (isOurs) return error;
  return new DatabaseUnusable(`${setting}: ${connectionFault(error)}`, { cause: error });
}
