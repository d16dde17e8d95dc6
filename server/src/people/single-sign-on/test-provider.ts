import { X509Certificate } from 'node:crypto';
import { type MappedPerson, type ProviderCheck, testProvider } from '@vitrine/contract/providers';
import { sql } from 'kysely';
import { ownTeam } from '../../access/teams.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import {
  findProvider,
  type OidcProvider,
  type RedirectProvider,
  type SamlProvider,
} from '../identity/provider-registry.ts';
import { findOpenInvitation } from '../invitations/open.ts';
import { claimedAccounts, findAccount, findProvisioned } from './admit.ts';
import { SignInFailure } from './failure.ts';
import { fetchKeys } from './logout-token.ts';
import { mappedRole, mappedTeams } from './mapping.ts';
import { discover, startTimeout } from './oidc.ts';
import { isOfAllowedDomain, type Person, personOf } from './person.ts';
import { describe, personOfAttributes } from './saml.ts';

type CheckName = ProviderCheck['name'];

/** A check whose message is worded in the language of the reader later. */
type UnwordedCheck = Omit<ProviderCheck, 'message'> & { readonly message?: Sentence };

/** Runs a step. The message is ours: what an address answered is not repeated (SSO-51). */
async function check<T>(
  name: CheckName,
  message: Sentence,
  step: () => Promise<T | null>,
): Promise<{ shown: UnwordedCheck; value: T | null }> {
  try {
    const value = await step();
    return { shown: value === null ? { name, ok: false, message } : { name, ok: true }, value };
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    return { shown: { name, ok: false, message }, value: null };
  }
}

async function checkOidc(deps: Deps, provider: OidcProvider): Promise<UnwordedCheck[]> {
  const remainingMs = startTimeout();
  const discovery = await check(
    'discovery',
    sentence('the configuration of the provider cannot be read, or is of another issuer'),
    async () => (await discover(deps, provider, remainingMs)).serverMetadata(),
  );
  const address = discovery.value?.jwks_uri;
  const jwks = await check(
    'jwks',
    sentence('the keys of the provider cannot be read, or there are none'),
    async () => {
      if (address === undefined) return null;
      const { keys } = await fetchKeys(deps, address, remainingMs);
      return keys.length === 0 ? null : keys;
    },
  );
  return [discovery.shown, jwks.shown];
}

/** Whether a certificate is valid now. */
function isCurrent(pem: string): boolean {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  return validFromDate.getTime() <= Date.now() && Date.now() <= validToDate.getTime();
}

async function checkSaml(deps: Deps, provider: SamlProvider): Promise<UnwordedCheck[]> {
  const metadata = await check(
    'metadata',
    sentence('the metadata of the provider cannot be read or used'),
    () => describe(deps, provider),
  );
  const certificate = await check(
    'certificate',
    sentence('no certificate of the provider is valid now'),
    async () => (metadata.value?.certificates.some(isCurrent) === true ? true : null),
  );
  return [metadata.shown, certificate.shown];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function attributesIn(claims: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { name_id: _, attributes, ...others } = claims;
  const nested = typeof attributes === 'object' && attributes !== null ? attributes : {};
  return { ...others, ...Object.fromEntries(Object.entries(nested)) };
}

/** Returns the person whom these claims describe, as if they were verified. */
function personIn(provider: RedirectProvider, claims: Readonly<Record<string, unknown>>): Person {
  const { settings } = provider;
  if (provider.kind === 'saml') {
    const entity = { entity_id: provider.settings.entity_id ?? '' };
    return personOfAttributes(attributesIn(claims), textOf(claims.name_id), provider, entity);
  }
  const issuer = textOf(claims.iss) || provider.settings.issuer;
  return personOf('oidc', issuer, textOf(claims.sub), claims, settings.claims);
}

async function isInvited(db: Database, { email, emailVerified }: Person): Promise<boolean> {
  if (email === null || !emailVerified) return false;
  return (await findOpenInvitation(db, sql`i.email_key = ${keyOfEmail(email)}`)) !== null;
}

/** Returns what `admit` would decide, without deciding it (SSO-50). */
async function outcomeOf(
  db: Database,
  provider: RedirectProvider,
  person: Person,
): Promise<Pick<MappedPerson, 'outcome' | 'reason'>> {
  const { settings } = provider;
  if (!isOfAllowedDomain(person, settings.allowed_domains)) return { outcome: 'refuse', reason: 'domain' };
  const known = (await findAccount(db, person)) ?? (await findProvisioned(db, provider, person));
  if (known !== undefined)
    return known.active ? { outcome: 'sign_in' } : { outcome: 'refuse', reason: 'inactive' };
  const { rows } = await sql`select from users u where ${claimedAccounts(person)} limit 1`.execute(db);
  if (rows.length > 0) return { outcome: 'link' };
  if (settings.creation !== 'first_sign_in' && !(await isInvited(db, person)))
    return { outcome: 'refuse', reason: 'not_invited' };
  return person.username === null ? { outcome: 'refuse', reason: 'invalid' } : { outcome: 'create' };
}

async function mappedPerson(db: Database, provider: RedirectProvider, person: Person): Promise<MappedPerson> {
  const wanted = mappedTeams(provider, person.groups);
  const { rows: teams } = await sql<{ id: string }>`
    select t.id from teams t where t.id = any(${wanted}::uuid[]) and ${ownTeam} order by t.id`.execute(db);
  return {
    username: person.username,
    fullname: person.fullname,
    email: person.email,
    email_verified: person.emailVerified,
    groups: [...person.groups],
    role: mappedRole(provider, person.groups),
    teams: teams.map(({ id }) => id),
    ...(await outcomeOf(db, provider, person)),
  };
}

/** SSO-50: also for a provider that is not enabled yet. */
export const test = handle(testProvider, async (deps, { caller, http, params, body }) => {
  const provider = await findProvider(deps, params.name);
  if (provider === null) throw notFound();
  const unworded =
    provider.kind === 'oidc' ? await checkOidc(deps, provider) : await checkSaml(deps, provider);
  const language = readerLanguage(caller, http);
  const checks = unworded.map(({ message, ...check }) =>
    message === undefined ? check : { ...check, message: saySentence(language, message) },
  );
  const ok = checks.every((check) => check.ok);
  const claims = body?.claims ?? null;
  if (claims === null) return { status: 200, body: { ok, checks } };
  const mapped = await mappedPerson(deps.db, provider, personIn(provider, claims));
  return { status: 200, body: { ok, checks, mapped } };
});
