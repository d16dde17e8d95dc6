/** Why a sign-in failed, as the sign-in page is told (SSO-24). */
export type SignInFault =
  | 'cancelled'
  | 'invalid'
  | 'expired'
  | 'unavailable'
  | 'not_invited'
  | 'domain'
  | 'inactive';

/** A sign-in with a provider that failed. The message is for the log and the audit; it contains no tokens. */
export class SignInFailure extends Error {
  readonly fault: SignInFault;

  constructor(fault: SignInFault, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.fault = fault;
  }
}
