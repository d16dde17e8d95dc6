import { CallError } from '@vitrine/contract/client';
import { problemText } from '#lib/service.ts';

/** Codes that programs read, for people (HTTP-1). */
const codes: Readonly<Record<string, string>> = {
  invalid_2fa_code: 'That code is not right, or it was used before. Codes change every 30 seconds.',
  '2fa_required': 'A code from your authenticator app is needed as well.',
};

/** What went wrong, for people: the service's own words but for the codes it answers programs with. */
export function problemInWords(error: unknown): string {
  const known = error instanceof CallError ? codes[error.message] : undefined;
  return known ?? problemText(error);
}
