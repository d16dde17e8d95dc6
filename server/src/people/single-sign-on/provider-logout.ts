import { backchannelLogout, frontchannelLogout } from '@vitrine/contract/provider-sign-in';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { recordEvents } from '../audit/record.ts';
import { findEnabledProvider, type OidcProvider } from '../identity/provider-registry.ts';
import { hashToken } from '../identity/sessions.ts';
import { SignInFailure } from './failure.ts';
import { type LogoutToken, TOKEN_SECONDS, verifyLogoutToken } from './logout-token.ts';

const noStore = { 'cache-control': 'no-store' };

async function findOidc(deps: Deps, name: string): Promise<OidcProvider> {
  const provider = await findEnabledProvider(deps, name);
  if (provider?.kind !== 'oidc') throw notFound();
  return provider;
}

async function recordSignOuts(tx: Tx, provider: string, refs: readonly number[]): Promise<void> {
  const events = [...new Set(refs)].map((ref) => ({
    event: 'auth.provider.signed_out',
    subjectUserRef: ref,
    metadata: { provider },
  }));
  await recordEvents(tx, null, events);
}

/** Whose session `s` at a provider it is. An impersonation belongs to the administrator (IMPERSONATION-7). */
const personOfSession = sql<number>`coalesce(s.impersonator_user_ref, s.user_ref)`;

/** Ends the sessions that began in a session at the provider, and sign-ins from there that wait for a second factor. */
async function endSessionsOfSid(tx: Tx, provider: string, sid: string): Promise<void> {
  const { rows: ended } = await sql<{ ref: number }>`delete from sessions s
    where s.provider = ${provider} and s.provider_sid = ${sid} returning ${personOfSession} as ref`.execute(
    tx,
  );
  await sql`update sign_in_flows set used_at = now() where provider = ${provider} and used_at is null
    and identity ->> 'sid' = ${sid}`.execute(tx);
  await recordSignOuts(
    tx,
    provider,
    ended.map(({ ref }) => ref),
  );
}

/** Ends all sessions of a person that began at the provider. */
async function endSessionsOfSubject(
  tx: Tx,
  provider: string,
  issuer: string,
  subject: string,
): Promise<void> {
  const { rows: ended } = await sql<{ ref: number }>`
    delete from sessions s using user_identities i
    where i.kind = 'oidc' and i.issuer = ${issuer} and i.subject = ${subject}
      and ${personOfSession} = i.user_ref and s.provider = ${provider}
    returning i.user_ref as ref`.execute(tx);
  await sql`update sign_in_flows set used_at = now() where provider = ${provider} and used_at is null
    and identity ->> 'subject' = ${subject}`.execute(tx);
  await recordSignOuts(
    tx,
    provider,
    ended.map(({ ref }) => ref),
  );
}

/** Marks a token as used; false if it was used before. */
async function useToken(tx: Tx, provider: OidcProvider, { id }: LogoutToken): Promise<boolean> {
  const seconds = TOKEN_SECONDS + 2 * provider.settings.clock_tolerance_seconds + 60;
  const used = await tx
    .insertInto('used_logout_tokens')
    .values({
      provider: provider.name,
      id_hash: hashToken(id),
      expires_at: sql<string>`now() + make_interval(secs => ${seconds})`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('provider')
    .executeTakeFirst();
  return used !== undefined;
}

async function verified(deps: Deps, provider: OidcProvider, token: string) {
  try {
    return await verifyLogoutToken(deps, provider, token);
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    deps.log.warn({ provider: provider.name, reason: error.message }, 'a logout token was refused');
    throw refuse(error.fault === 'unavailable' ? 'provider-keys-unavailable' : 'logout-token-invalid');
  }
}

/** SSO-41: the provider says that a person has signed out there. */
export const signOutInBackground = handle(backchannelLogout, async (deps, { params, body }) => {
  const provider = await findOidc(deps, params.name);
  const found = await verified(deps, provider, body.logout_token);
  await deps.db.transaction().execute(async (tx) => {
    if (!(await useToken(tx, provider, found.token))) throw refuse('logout-token-invalid');
    const { sid, subject } = found.token;
    if (sid !== null) await endSessionsOfSid(tx, provider.name, sid);
    else if (subject !== null) await endSessionsOfSubject(tx, provider.name, found.issuer, subject);
  });
  return { status: 200, headers: noStore };
});

function isSameAddress(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

/** SSO-42: the provider opens the address in the person's browser, without the cookie of this library. */
export const signOutInBrowser = handle(frontchannelLogout, async (deps, { params, query }) => {
  const provider = await findOidc(deps, params.name);
  if (!isSameAddress(query.iss, provider.settings.issuer))
    throw refuse('value-invalid', {
      property: 'iss',
      reason: sentence('is not the issuer of this provider'),
    });
  await deps.db.transaction().execute((tx) => endSessionsOfSid(tx, provider.name, query.sid));
  return { status: 200, headers: noStore };
});
