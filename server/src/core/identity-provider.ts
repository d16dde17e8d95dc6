/** The identity that a provider returns after accepting the password. */
export interface ProvidedIdentity {
  /** The account's permanent id at the provider; unchanged when a person is renamed. */
  subject: string;
  username: string;
  fullname: string | null;
  email: string | null;
}

/**
 * A directory that verifies passwords (SIGNIN-5). Returns null for an unknown name and for a wrong password; throws
 * when it cannot be reached.
 */
export interface IdentityProvider {
  verify(username: string, password: string): Promise<ProvidedIdentity | null>;
}

/** A registered provider. Without further settings, it is not set up: 501 (SIGNIN-4). */
export type RegisteredProvider = IdentityProvider | 'not set up';

/** The registered providers by name, without the built-in password sign-in. */
export type IdentityProviders = ReadonlyMap<string, RegisteredProvider>;
