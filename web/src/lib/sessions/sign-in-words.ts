/** Returns how a sign-in was made, after “Signed in”. */
export function methodWords(method: string, labelOf: (provider: string) => string): string {
  if (method === 'password') return 'with a password';
  if (method === 'passkey') return 'with a passkey';
  if (method === 'ldap') return 'with the directory';
  return `with ${labelOf(method)}`;
}
