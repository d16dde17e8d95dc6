/** Whom a provider says the caller is, once it took their password. */
export interface ProvidedIdentity {
  /** The account's lasting id at the provider: it stays when a person is renamed. */
  subject: string;
  username: string;
  fullname: string | null;
  email: string | null;
}

/**
 * A directory that knows passwords we do not (SIGNIN-5). Returns null for an unknown name and a wrong password
 * alike; throws when it cannot be asked at all.
 */
export interface IdentityProvider {
  verify(username: string, password: string): Promise<ProvidedIdentity | null>;
}

/** A provider that is registered but not implemented in this build: answered with 501 (SIGNIN-4). */
export type RegisteredProvider = IdentityProvider | 'not implemented';

/** The registered providers by name; the built-in password flow is not among them. */
export type IdentityProviders = ReadonlyMap<string, RegisteredProvider>;
