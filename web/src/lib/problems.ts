import { CallError } from '@vitrine/contract/client';

/** Whether what went wrong says nothing of what was asked for: the connection, the server, or too much at once. */
export function isServerFailure(error: unknown): boolean {
  return !(error instanceof CallError) || error.status === 0 || error.status === 429 || error.status >= 500;
}

/** Texts for server messages that are codes (HTTP-1) or say nothing to people. */
const plainly: Readonly<Record<string, string>> = {
  invalid_2fa_code: 'That code is not right, or it was used before. Codes change every 30 seconds.',
  '2fa_required': 'A code from your authenticator app is needed as well.',
  'server error': 'Something went wrong on the server. Try again in a moment.',
  'too many requests': 'That was a lot in a short time. Wait a moment, then try again.',
};

/** What went wrong, for people: in the server's words unless there are better ones. */
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
