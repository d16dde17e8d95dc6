const texts: Readonly<Record<string, string>> = {
  cancelled: 'You cancelled the sign-in.',
  invalid: 'The sign-in could not be verified. Try again.',
  expired: 'The sign-in took too long or was already used. Try again.',
  unavailable: 'The provider does not respond. Try again later.',
  not_invited: 'You have no account here. Ask an administrator.',
  domain: 'Your e-mail address is not one that may sign in here.',
  inactive: 'Your account is not active. Ask an administrator.',
};

/** Returns the words for the failure in the address of the sign-in page (SSO-24); undefined for none. */
export function failureText(failure: string | null): string | undefined {
  if (failure === null) return undefined;
  return texts[failure] ?? 'The sign-in failed. Try again.';
}
