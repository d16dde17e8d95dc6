import { phrase } from '#lib/languages/phrase.ts';

/** Returns how a sign-in was made, after “Signed in”. */
export function methodWords(method: string, labelOf: (provider: string) => string): string {
  if (method === 'password') return phrase('with a password');
  if (method === 'passkey') return phrase('with a passkey');
  if (method === 'ldap') return phrase('with the directory');
  return `with ${labelOf(method)}`;
}
