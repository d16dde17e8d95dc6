import { listSignInProviders, startOidcSignIn, startSamlSignIn } from '@vitrine/contract/provider-sign-in';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { ownAddress } from '../identity/own-address.ts';
import {
  findEnabledProvider,
  type RedirectProvider,
  readProviders,
  startPath,
} from '../identity/provider-registry.ts';
import { findOpenInvitation, withToken } from '../invitations/open.ts';
import { SignInFailure } from './failure.ts';
import { beginFlow, browserSecret, flowCookie, type NewFlow } from './flows.ts';
import { authorizationUrl, redirectUri } from './oidc.ts';
import { returnPath } from './return-path.ts';
import { samlAuthorizationUrl } from './saml.ts';

/** SSO-2: the enabled providers, and a directory that is open. */
export const listWays = handle(listSignInProviders, async (deps) => {
  const directory = deps.providers.get('ldap');
  const ldap =
    directory === undefined || directory === 'not set up'
      ? []
      : [{ name: 'ldap', kind: 'ldap' as const, label: 'Directory' }];
  const redirecting = (await readProviders(deps))
    .filter(({ settings }) => settings.enabled)
    .map((provider) => ({
      name: provider.name,
      kind: provider.kind,
      label: provider.settings.label,
      start_url: startPath(provider),
    }));
  return { status: 200, body: [...ldap, ...redirecting] };
});

/** Begins a flow, and returns the provider's address and the cookie. Throws SignInFailure. */
export async function redirectTo(
  deps: Deps,
  provider: RedirectProvider,
  http: HttpFacts,
  flow: Pick<NewFlow, 'purpose' | 'userRef' | 'sessionId' | 'returnTo' | 'invitationId'>,
) {
  const secret = browserSecret(http);
  const binding = await beginFlow(deps.db, { ...flow, secret, provider: provider.name });
  const address = await ownAddress(deps, http);
  const url =
    provider.kind === 'oidc'
      ? await authorizationUrl(deps, provider, binding, redirectUri(address, provider.name))
      : await samlAuthorizationUrl(deps, provider, binding, address);
  return { url, cookie: flowCookie(secret, provider.kind === 'saml') };
}

/** Returns the path of the sign-in page; `next` is where the sign-in was to lead. */
export function signInPage(query: Record<string, string>, next: string | null): string {
  const parameters = new URLSearchParams({ ...query, ...(next === null ? {} : { next }) });
  return `/sign-in?${parameters}`;
}

async function begin(
  deps: Deps,
  kind: RedirectProvider['kind'],
  { name, query }: { name: string; query: { return_to?: string; invitation?: string } },
  http: HttpFacts,
) {
  const returnTo = returnPath(query.return_to);
  const provider = await findEnabledProvider(deps, name);
  if (provider?.kind !== kind) throw notFound();
  const { invitation: token } = query;
  const invitation = token === undefined ? null : await findOpenInvitation(deps.db, withToken(token));
  const invitationId = invitation?.id ?? null;
  try {
    const begun = { purpose: 'sign_in', returnTo, invitationId } as const;
    const { url, cookie } = await redirectTo(deps, provider, http, begun);
    return { status: 302, headers: { location: url }, scopedCookie: cookie } as const;
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    deps.log.error({ provider: provider.name, reason: error.message }, 'a sign-in cannot start');
    return { status: 302, headers: { location: signInPage({ error: error.fault }, returnTo) } } as const;
  }
}

export const startSignIn = handle(startOidcSignIn, async (deps, { params, query, http }) =>
  begin(deps, 'oidc', { ...params, query }, http),
);

export const startWithSaml = handle(startSamlSignIn, async (deps, { params, query, http }) =>
  begin(deps, 'saml', { ...params, query }, http),
);
