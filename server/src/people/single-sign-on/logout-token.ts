import { idTokenAlgorithms } from '@vitrine/contract/providers';
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { guardedFetch } from '../../platform/http/guarded-fetch.ts';
import type { OidcProvider } from '../identity/provider-registry.ts';
import { SignInFailure } from './failure.ts';
import { discover, MOST_BYTES, type OidcDeps, type RemainingMs, startTimeout } from './oidc.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** How old a logout token may be; later ones would need to be remembered for longer. */
export const TOKEN_SECONDS = 600;

/** The person or the session that a provider has signed out. At least one of the two is present. */
export interface LogoutToken {
  id: string;
  subject: string | null;
  sid: string | null;
}

function invalid(reason: string): SignInFailure {
  return new SignInFailure('invalid', reason);
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);
}

/** Returns the keys that the provider publishes now. Throws SignInFailure. */
export async function fetchKeys(
  { config }: OidcDeps,
  address: string,
  remainingMs: RemainingMs,
): Promise<JSONWebKeySet> {
  const limits = {
    privateAddresses: config.providerPrivateAddresses,
    timeoutMs: remainingMs(),
    mostBytes: MOST_BYTES,
  };
  const unavailable = new SignInFailure('unavailable', 'the keys of the provider cannot be read');
  const keys: unknown = await guardedFetch(limits, address)
    .then((response) => (response.status === 200 ? response.json() : null))
    .catch(() => null);
  if (!isKeySet(keys)) throw unavailable;
  return keys;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= 1000 ? value : null;
}

/** Refuses tokens that cannot be for this provider, without asking it. */
function checkUnverified(token: string, { settings }: OidcProvider): void {
  const { aud } = decodeJwt(token);
  if (![aud].flat().includes(settings.client_id)) throw invalid('the token has another audience');
}

function contentOf(claims: JWTPayload): LogoutToken {
  const { events, nonce, sub, sid, jti } = claims;
  const event: unknown =
    typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT)
      ? Reflect.get(events, EVENT)
      : null;
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw invalid('the token is not about signing out');
  // ID tokens have one; they must not end sessions.
  if (nonce !== undefined) throw invalid('the token has a nonce');
  const token = { id: textOf(jti), subject: textOf(sub), sid: textOf(sid) };
  const { id, subject, sid: session } = token;
  if (id === null) throw invalid('the token has no id');
  if ((sub !== undefined && subject === null) || (sid !== undefined && session === null))
    throw invalid('the subject or the session of the token is not a string');
  if (subject === null && session === null) throw invalid('the token names neither a person nor a session');
  return { id, subject, sid: session };
}

/** Verifies a logout token (SSO-41); throws SignInFailure. */
export async function verifyLogoutToken(
  deps: OidcDeps,
  provider: OidcProvider,
  token: string,
): Promise<{ issuer: string; token: LogoutToken }> {
  try {
    checkUnverified(token, provider);
    const remainingMs = startTimeout();
    const configuration = await discover(deps, provider, remainingMs);
    const { issuer, jwks_uri: address } = configuration.serverMetadata();
    const keys = createLocalJWKSet(await fetchKeys(deps, address ?? '', remainingMs));
    const { settings } = provider;
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: settings.client_id,
      algorithms: settings.id_token_alg === undefined ? [...idTokenAlgorithms] : [settings.id_token_alg],
      clockTolerance: settings.clock_tolerance_seconds,
      maxTokenAge: TOKEN_SECONDS,
    });
    return { issuer, token: contentOf(payload) };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalid(error.message.slice(0, 500));
    throw error;
  }
}
