import { sentenceOfError } from '../faults/worded-errors.ts';
import { type Sentence, sentence, WordedError } from '../language/sentence.ts';
import { LibraryInUse } from './instance-lock.ts';

/** The database cannot be used. The message is one line that names the setting to check. */
export class DatabaseUnusable extends WordedError {}

/** The driver's messages when the server asks for a password that the address lacks. */
const noPassword = /client password must be a/;

/** Returns why a connection failed, in one line that an operator can act on. */
export function connectionFault(error: unknown): Sentence {
  if (error instanceof Error && noPassword.test(error.message))
    return sentence('the server asks for a password, and the address has none: {form}', {
      form: 'postgres://NAME:PASSWORD@HOST/DATABASE',
    });
  return sentenceOfError(error);
}

/** Returns an environment or server error in one line; our own errors are returned unchanged. */
export function unusable(setting: string, error: unknown): unknown {
  const isOurs = error instanceof LibraryInUse || !(error instanceof Error) || error instanceof TypeError;
  if (isOurs) return error;
  const message = sentence('{setting}: {reason}', { setting, reason: connectionFault(error) });
  return new DatabaseUnusable(message, { cause: error });
}
