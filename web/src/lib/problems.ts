import { CallError } from '@vitrine/contract/client';

/**
 * Returns whether an error is unrelated to the request itself: a lost connection, a server error, or rate limiting.
 */
export function isServerFailure(error: unknown): boolean {
  return !(error instanceof CallError) || error.status === 0 || error.status === 429 || error.status >= 500;
}

/** Texts for server messages that are codes (HTTP-1) or not meaningful to users. */
const plainly: Readonly<Record<string, string>> = {
  invalid_2fa_code: 'That code is wrong or was already used. Codes change every 30 seconds.',
  '2fa_required': 'Enter a code from your authenticator app as well.',
  'server error': 'Something went wrong on the server. Try again in a moment.',
  'too many requests': 'Too many requests. Wait a moment, then try again.',
};

/** Returns the text of an error for users: the server's message unless there is a better one. */
export function problemText(error: unknown): string {
  const known = error instanceof CallError ? plainly[error.message] : undefined;
  if (known !== undefined) return known;
  if (error instanceof CallError && error.message !== '') return sentence(error.message);
  return 'The server cannot be reached. Check the connection and try again.';
}

function sentence(text: string): string {
  const [first = '', ...rest] = text;
  const written = first.toLocaleUpperCase() + rest.join('');
  return /[.!?]$/.test(written) ? written : `${written}.`;
}
