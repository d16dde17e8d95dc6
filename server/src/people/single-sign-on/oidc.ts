import { basePath } from '@vitrine/contract/operations';
import { idTokenAlgorithms } from '@vitrine/contract/providers';
import type { ClientAuth, Configuration } from 'openid-client';
import type { Config } from '../../core/config.ts';
import { guardedFetch, OutboundFailure } from '../../platform/http/guarded-fetch.ts';
import type { OidcProvider } from '../identity/provider-registry.ts';
import { SignInFailure } from './failure.ts';
import type { Binding } from './flows.ts';
import { type Person, personOf } from './person.ts';

const TIMEOUT_MS = 10_000;
export const MOST_BYTES = 1024 ** 2;

// Only libraries with such a provider load the client.
const load = () => import('openid-client');

/** Returns how many milliseconds are left until the timeout, at least one. */
export type RemainingMs = () => number;

/** Starts the timeout that all requests to a provider in one step share (SSO-24). */
export function startTimeout(): RemainingMs {
  const until = performance.now() + TIMEOUT_MS;
  return () => Math.max(1, until - performance.now());
}

export interface OidcDeps {
  config: Pick<Config, 'providerPrivateAddresses'>;
}

/** Returns the address to which the provider redirects. */
export function redirectUri(baseUrl: string, name: string): string {
  return `${baseUrl}${basePath}/auth/oidc/${name}/callback`;
}

/** Codes of openid-client for a provider that is down, slow, or answers something else. */
const unavailableCodes = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
]);

function textOf(error: unknown, key: 'code' | 'error'): string | null {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, key) : null;
  return typeof value === 'string' ? value : null;
}

/** Converts an error of openid-client. Its messages contain no tokens; its causes do. */
function failureOf(error: unknown): SignInFailure {
  const chain: unknown[] = [];
  for (let at = error; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at);
  const outbound = chain.find((cause) => cause instanceof OutboundFailure);
  if (outbound !== undefined) return new SignInFailure('unavailable', outbound.message);
  const codes = chain.map((cause) => textOf(cause, 'code'));
  const denied = chain.map((cause) => textOf(cause, 'error')).find((text) => text !== null) ?? null;
  const message = [error instanceof Error ? error.message : 'unknown error', ...codes, denied]
    .filter((part) => part !== null)
    .join('; ')
    .slice(0, 500);
  if (denied === 'access_denied') return new SignInFailure('cancelled', message);
  if (denied === 'server_error' || denied === 'temporarily_unavailable')
    return new SignInFailure('unavailable', message);
  const isDown = codes.some((code) => code !== null && unavailableCodes.has(code));
  return new SignInFailure(isDown ? 'unavailable' : 'invalid', message);
}

/**
 * Discovers the provider, whose responses to all requests with this configuration arrive in the remaining time.
 * Nothing is cached: sign-ins are rare, and a new key or endpoint counts at once (decision 721).
 */
export async function discover(
  { config }: OidcDeps,
  provider: OidcProvider,
  remainingMs = startTimeout(),
): Promise<Configuration> {
  const client = await load();
  const { settings, clientSecret } = provider;
  const limits = { privateAddresses: config.providerPrivateAddresses, mostBytes: MOST_BYTES };
  const basic = client.ClientSecretBasic(clientSecret ?? '');
  const post = client.ClientSecretPost(clientSecret ?? '');
  /** The method of OpenID Connect's default, unless the provider lists others only. */
  const bySecret: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
  try {
    return await client.discovery(
      new URL(settings.issuer),
      settings.client_id,
      {
        ...(settings.id_token_alg === undefined
          ? {}
          : { id_token_signed_response_alg: settings.id_token_alg }),
        [client.clockTolerance]: settings.clock_tolerance_seconds,
      },
      clientSecret === null ? client.None() : bySecret,
      {
        timeout: TIMEOUT_MS / 1000,
        // SSO-22: without these checks, the signature of an ID token is not verified in this flow.
        execute: [
          client.enableNonRepudiationChecks,
          ...(config.providerPrivateAddresses ? [client.allowInsecureRequests] : []),
        ],
        [client.customFetch]: (address, { method, headers, body }) =>
          guardedFetch({ ...limits, timeoutMs: remainingMs() }, address, {
            method,
            headers,
            body: body?.toString(),
          }),
      },
    );
  } catch (error) {
    throw new SignInFailure('unavailable', failureOf(error).message);
  }
}

/** Returns the address at the provider where the person signs in. */
export async function authorizationUrl(
  deps: OidcDeps,
  provider: OidcProvider,
  { state, nonce, verifier }: Binding,
  redirect: string,
): Promise<string> {
  const client = await load();
  const configuration = await discover(deps, provider);
  const endpoint = configuration.serverMetadata().authorization_endpoint ?? '';
  if (!/^https?:\/\//i.test(endpoint))
    throw new SignInFailure('unavailable', 'the provider names no address for signing in');
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirect,
    scope: provider.settings.scopes.join(' '),
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href;
}

function checkAlgorithm(idToken: string, configured: string | undefined): void {
  const header: unknown = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString());
  const algorithm: unknown =
    typeof header === 'object' && header !== null ? Reflect.get(header, 'alg') : null;
  const allowed: readonly string[] = configured === undefined ? idTokenAlgorithms : [configured];
  if (typeof algorithm !== 'string' || !allowed.includes(algorithm))
    throw new SignInFailure('invalid', 'the ID token is signed with an algorithm that is not allowed');
}

/** Exchanges the code of a response for the person's claims (SSO-22); throws SignInFailure. */
export async function personOfResponse(
  deps: OidcDeps,
  provider: OidcProvider,
  { state, nonce, verifier }: Binding,
  response: { redirect: string; search: string },
): Promise<Person> {
  const client = await load();
  const { settings } = provider;
  const configuration = await discover(deps, provider);
  try {
    const url = new URL(response.redirect);
    url.search = response.search;
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || tokens.id_token === undefined)
      throw new SignInFailure('invalid', 'the response has no ID token');
    checkAlgorithm(tokens.id_token, settings.id_token_alg);
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasUserInfo
      ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : {};
    // What is signed takes precedence.
    return personOf('oidc', claims.iss, claims.sub, { ...more, ...claims }, settings.claims);
  } catch (error) {
    throw error instanceof SignInFailure ? error : failureOf(error);
  }
}
