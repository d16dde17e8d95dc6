import { finishOidcSignIn, finishSamlSignIn } from '@vitrine/contract/provider-sign-in';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { activeAccount } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { completeSignIn } from '../identity/complete-sign-in.ts';
import { ownAddress } from '../identity/own-address.ts';
import { findEnabledProvider, type RedirectProvider } from '../identity/provider-registry.ts';
import { admit, linkPerson } from './admit.ts';
import { SignInFailure } from './failure.ts';
import { type Binding, beginFlow, flowCookie, type TakenFlow, takeFlow } from './flows.ts';
import { personOfResponse, redirectUri } from './oidc.ts';
import type { Person } from './person.ts';
import { personOfAssertion } from './saml.ts';
import { signInPage } from './start.ts';

/** The page of linked identities. */
export const IDENTITIES_PAGE = '/settings/security';

/** Links the identity to the account that asked for it, if its session still exists (SSO-16). */
async function link(deps: Deps, provider: RedirectProvider, person: Person, flow: TakenFlow): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      ref: number;
    }>`select u.ref from sessions s join users u on u.ref = s.user_ref
      where s.id = ${flow.sessionId} and s.expires_at > now() and u.ref = ${flow.userRef} and ${activeAccount('u')}
      for share of u`.execute(tx);
    const account = rows[0];
    if (account === undefined) throw new SignInFailure('expired', 'the session that began to link is over');
    if (!(await linkPerson(tx, provider, person, account.ref)))
      throw new SignInFailure('invalid', 'the identity belongs to an account already');
  });
}

/** Whether the account has to show its second factor here (SSO-17). */
async function needsSecondFactor(
  { db }: Deps,
  provider: RedirectProvider,
  userRef: number,
): Promise<boolean> {
  if (provider.settings.trust_second_factor) return false;
  const confirmed = await db
    .selectFrom('two_factor')
    .select('user_ref')
    .where('user_ref', '=', userRef)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  return confirmed !== undefined;
}

async function recordFailure(deps: Deps, provider: string, failure: SignInFailure, http: HttpFacts) {
  const { fault, message } = failure;
  deps.log.warn({ provider, fault, reason: message }, 'a sign-in with a provider failed');
  await deps.db.transaction().execute((tx) =>
    recordEvent(tx, null, {
      event: 'auth.provider.failed',
      metadata: { provider, error: fault, reason: message, address: http.address },
    }),
  );
}

interface Arrived {
  state: string;
  /** Verifies the response to what the flow sent. */
  personOf(binding: Binding): Promise<Person>;
}

/** Completes the flow of a response, and returns where the browser goes on and with which cookie. */
async function finish(
  deps: Deps,
  provider: RedirectProvider,
  { state, personOf }: Arrived,
  caller: Caller,
  http: HttpFacts,
) {
  const { db } = deps;
  const { name } = provider;
  let next: string | null = null;
  let page: string | null = null;
  try {
    const flow = await takeFlow(db, http, { provider: name, state });
    next = flow.returnTo;
    if (flow.purpose === 'link') page = IDENTITIES_PAGE;
    const person = await personOf(flow.binding);
    if (flow.purpose === 'link') {
      await link(deps, provider, person, flow);
      return { headers: { location: `${IDENTITIES_PAGE}?linked=${name}` } };
    }
    const admission = await admit(db, provider, person, flow.invitationId);
    const { secret } = flow;
    if (admission.kind === 'confirm') {
      await beginFlow(db, { secret, provider: name, purpose: 'confirm', person });
      return {
        headers: { location: signInPage({ step: 'link' }, next) },
        scopedCookie: flowCookie(secret),
      };
    }
    if (await needsSecondFactor(deps, provider, admission.ref)) {
      const waiting = { secret, provider: name, purpose: 'second_factor', userRef: admission.ref } as const;
      await beginFlow(db, { ...waiting, person });
      return {
        headers: { location: signInPage({ step: 'second_factor' }, next) },
        scopedCookie: flowCookie(secret),
      };
    }
    const origin = { provider: name, sid: person.sid };
    const signedIn = { userRef: admission.ref, provider: name, secondFactor: false, origin };
    const { cookie } = await completeSignIn(deps, signedIn, caller, http);
    return { headers: { location: next ?? '/' }, cookie };
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    await recordFailure(deps, name, error, http);
    const location =
      page === null ? signInPage({ error: error.fault }, next) : `${page}?error=${error.fault}`;
    return { headers: { location } };
  }
}

export const finishSignIn = handle(finishOidcSignIn, async (deps, { params, query, caller, http }) => {
  const provider = await findEnabledProvider(deps, params.name);
  if (provider?.kind !== 'oidc') throw notFound();
  const redirect = redirectUri(await ownAddress(deps, http), provider.name);
  const personOf = (binding: Binding) =>
    personOfResponse(deps, provider, binding, { redirect, search: http.search });
  const finished = await finish(deps, provider, { state: query.state ?? '', personOf }, caller, http);
  return { status: 302, ...finished };
});

export const finishWithSaml = handle(finishSamlSignIn, async (deps, { params, body, caller, http }) => {
  const provider = await findEnabledProvider(deps, params.name);
  if (provider?.kind !== 'saml') throw notFound();
  const baseUrl = await ownAddress(deps, http);
  const personOf = (binding: Binding) =>
    personOfAssertion(deps, provider, binding, { response: body.SAMLResponse ?? '', baseUrl });
  const finished = await finish(deps, provider, { state: body.RelayState ?? '', personOf }, caller, http);
  return { status: 303, ...finished };
});
