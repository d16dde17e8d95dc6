import type { CreationOptions, RequestOptions } from '@vitrine/contract/passkeys';

// Only pages that use a passkey load the library.
const load = () => import('@simplewebauthn/browser');

/** Returns whether this page can use passkeys: browsers offer none without TLS or under an IP address. */
export function hasPasskeys(): boolean {
  const isAddress = /^\[|^[\d.]+$/.test(location.hostname);
  return isSecureContext && 'PublicKeyCredential' in window && !isAddress;
}

/** Lets the browser create a passkey. */
export async function createPasskey(options: CreationOptions) {
  const { startRegistration } = await load();
  return startRegistration({ optionsJSON: options });
}

/** Lets the person choose a passkey of this site, and returns its response. */
export async function choosePasskey(options: RequestOptions) {
  const { startAuthentication } = await load();
  return startAuthentication({ optionsJSON: options });
}

/** What browsers mean, by the names of their errors. */
const words: Readonly<Record<string, string>> = {
  AbortError: 'The passkey was not used.',
  ConstraintError: 'This device cannot check who you are. Set up a PIN, fingerprint or face first.',
  InvalidStateError: 'This device has a passkey of your account already.',
  NotAllowedError: 'The passkey was not used. Try again, or continue without it.',
  NotSupportedError: 'This device cannot create passkeys.',
  SecurityError: 'Passkeys do not work under this address.',
};

/** Returns the words for an error of the browser; undefined for other errors. */
export function passkeyProblem(error: unknown): string | undefined {
  return error instanceof Error && Object.hasOwn(words, error.name) ? words[error.name] : undefined;
}
