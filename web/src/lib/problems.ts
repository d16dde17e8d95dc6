import { CallError } from '@vitrine/contract/client';
import type { ErrorCode } from '@vitrine/contract/errors/codes';
import { passkeyProblem } from './passkeys/ceremonies.ts';

/**
 * Returns whether an error is unrelated to the request itself: a lost connection, a server error, or rate limiting.
 */
export function isServerFailure(error: unknown): boolean {
  return !(error instanceof CallError) || error.status === 0 || error.status === 429 || error.status >= 500;
}

const wrongCode = 'That code is wrong or was already used. Codes change every 30 seconds.';

/** Words for users where the server's sentence is for developers. */
const words: Partial<Readonly<Record<ErrorCode, string>>> = {
  'approval-required': 'This needs the approval of others first.',
  'comments-disabled': 'Comments on this post are closed.',
  'guest-without-name': 'Enter your name first.',
  'link-password-required': 'This link needs a password.',
  'not-found': 'This is no longer here, or it is not shared with you.',
  'second-factor-required': 'Set up a second factor first. Your role needs one.',
  'server-error': 'Something went wrong on the server. Try again in a moment.',
  'sidecar-not-installed': 'Searching by picture is not set up in this library.',
  'subtitles-language-invalid': 'Enter the code of a language, such as en, de or pt-BR.',
  'too-many-requests': 'Too many requests. Wait a moment, then try again.',
  'two-factor-code-invalid': wrongCode,
  'two-factor-enrolment-code-invalid': wrongCode,
  'passkey-challenge-unknown': 'That took too long. Start again.',
  'passkey-known': 'This passkey belongs to an account already.',
  'two-factor-required': 'Enter a code from your authenticator app as well.',
};

/** Returns the text of an error for users: the server's message unless there is a better one. */
export function problemText(error: unknown): string {
  const known = error instanceof CallError && error.code !== null ? words[error.code] : passkeyProblem(error);
  if (known !== undefined) return known;
  // The server gives the reason in the language of the reader.
  if (error instanceof CallError && error.code === 'message-not-sent')
    return `The message was not sent: ${error.params?.reason ?? ''}.`;
  if (error instanceof CallError && error.message !== '') return sentence(error.message);
  return 'The server cannot be reached. Check the connection and try again.';
}

function sentence(text: string): string {
  const [first = '', ...rest] = text;
  const written = first.toLocaleUpperCase() + rest.join('');
  return /[.!?]$/.test(written) ? written : `${written}.`;
}
