import { lookup } from 'node:dns/promises';
import {
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  type OidcSettings,
  type Provider,
  type ProviderChange,
  type ProviderCreate,
  updateProvider,
} from '@vitrine/contract/providers';
import { sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import type { SignedIn } from '../../access/caller.ts';
import { liveTeam, writableTeams } from '../../access/teams.ts';
import { oidcDefaults } from '../../core/config/sign-in-providers.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { parseOutboundUrl } from '../../platform/http/guarded-fetch.ts';
import { isAllowedAddress } from '../../platform/http/outbound-addresses.ts';
import { pageByCode } from '../../platform/http/page.ts';
import { type Patch, patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import {
  ENVIRONMENT_NAME,
  findProvider,
  PROVIDER_PURPOSE,
  type RedirectProvider,
  readProviders,
  reservedNames,
} from '../identity/provider-registry.ts';
import { seal } from '../identity/seal.ts';
import { capabilitiesOfRole, findRole } from '../roles/roles.ts';
import { redirectUri } from './oidc.ts';
import { ownAddress } from './start.ts';

function shown(provider: RedirectProvider, address: string): Provider {
  const { name, kind, source, settings, clientSecret } = provider;
  return {
    name,
    kind,
    source,
    ...settings,
    has_client_secret: clientSecret !== null,
    redirect_uri: redirectUri(address, name),
  };
}

export const list = handle(listProviders, async (deps, { query, http }) => {
  const address = await ownAddress(deps, http);
  const all = (await readProviders(deps)).map((provider) => shown(provider, address));
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { items, next_cursor } = pageByCode(
    sorted.map((provider) => ({ code: provider.name, provider })),
    query,
  );
  return { status: 200, body: { items: items.map(({ provider }) => provider), next_cursor } };
});

export const show = handle(getProvider, async (deps, { params, http }) => {
  const provider = await findProvider(deps, params.name);
  if (provider === null) throw notFound();
  return { status: 200, body: shown(provider, await ownAddress(deps, http)) };
});

/** SSO-6: throws 400 for an issuer that requests may not go to. A name that does not resolve now is accepted. */
async function checkIssuer({ config }: Deps, issuer: string): Promise<void> {
  const { providerPrivateAddresses: isPrivateAllowed } = config;
  const url = parseOutboundUrl(issuer, isPrivateAllowed);
  const property = 'issuer';
  if (url === null) throw refuse('provider-address-private', { property });
  if (url.search !== '' || url.hash !== '')
    throw refuse('value-invalid', { property, reason: 'must have no query and no fragment' });
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.some(({ address }) => !isAllowedAddress(address, isPrivateAllowed)))
    throw refuse('provider-address-private', { property });
}

/** SSO-5: throws 403 for roles and teams that the caller may not give. */
async function checkMapping(
  tx: Tx,
  caller: SignedIn,
  { default_role, role_mapping, team_mapping }: OidcSettings,
): Promise<void> {
  for (const code of new Set([default_role, ...role_mapping.map(({ role }) => role)])) {
    const role = await findRole(tx, sql`code = ${code}`);
    if (role === null) throw refuse('role-not-found');
    checkMayGive(caller, await capabilitiesOfRole(tx, role.id));
  }
  const wanted = [...new Set(team_mapping.map(({ team_id }) => team_id))];
  const { rows } = await sql<{ writable: boolean }>`select ${writableTeams(caller)} as writable from teams t
    where t.id = any(${wanted}::uuid[]) and ${liveTeam}`.execute(tx);
  if (rows.length < wanted.length) throw refuse('team-not-found');
  if (rows.some(({ writable }) => !writable))
    throw refuse('capability-missing', { capability: 'teams.write' });
}

const properties = [
  'label',
  'enabled',
  'creation',
  'allowed_domains',
  'claims',
  'default_role',
  'role_mapping',
  'team_mapping',
  'trust_second_factor',
  'clock_tolerance_seconds',
  'issuer',
  'client_id',
  'scopes',
  'id_token_alg',
] as const;

/** Returns the settings with a change applied; what is removed gets its default. */
function withChange(
  before: Partial<OidcSettings>,
  change: Patch<ProviderChange, (typeof properties)[number]>,
): Partial<OidcSettings> {
  const kept = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  // The values are those of the contract's schemas.
  return { ...oidcDefaults, ...(Object.fromEntries(kept) as Partial<OidcSettings>) };
}

function completeSettings(settings: Partial<OidcSettings>): OidcSettings {
  const { label, issuer, client_id } = settings;
  const missing = Object.entries({ label, issuer, client_id }).flatMap(([name, value]) =>
    value === undefined ? [name] : [],
  );
  if (label === undefined || issuer === undefined || client_id === undefined)
    throw refuse('value-missing', { object: 'body', missing });
  if (settings.scopes?.includes('openid') === false)
    throw refuse('value-invalid', { property: 'scopes', reason: 'must include openid' });
  return { ...oidcDefaults, ...settings, label, issuer, client_id };
}

/** Stores a provider and returns it as written. Secrets are sealed (SSO-3). */
export const create = handle(createProvider, async (deps, { caller, body, http }) => {
  const { db, config, secretKey } = deps;
  const { name, kind, client_secret, ...given }: ProviderCreate = body;
  const isTaken = reservedNames.has(name) || (config.oidc !== null && name === ENVIRONMENT_NAME);
  const settings = completeSettings(withChange({}, patchOf(given, properties)));
  await checkIssuer(deps, settings.issuer);
  await db.transaction().execute(async (tx) => {
    await checkMapping(tx, caller, settings);
    const sealed = client_secret == null ? null : seal(secretKey, PROVIDER_PURPOSE, client_secret);
    const inserted = isTaken
      ? undefined
      : await tx
          .insertInto('identity_providers')
          .values({ name, kind, settings: JSON.stringify(settings), client_secret_sealed: sealed })
          .onConflict((conflict) => conflict.doNothing())
          .returning('name')
          .executeTakeFirst();
    if (inserted === undefined) throw refuse('provider-name-taken');
    await recordEvent(tx, caller, {
      event: 'provider.created',
      metadata: { provider: name, issuer: settings.issuer },
    });
  });
  const provider = await findProvider(deps, name);
  if (provider === null) throw notFound();
  return { status: 201, body: shown(provider, await ownAddress(deps, http)) };
});

function checkStored({ config }: Deps, name: string): void {
  if (config.oidc !== null && name === ENVIRONMENT_NAME) throw refuse('provider-in-environment');
}

export const update = handle(updateProvider, async (deps, { caller, params, body, http }) => {
  const { db, secretKey } = deps;
  checkStored(deps, params.name);
  const changes = patchOf(body, properties);
  const { client_secret: secret } = patchOf(body, ['client_secret']);
  if (typeof changes.issuer === 'string') await checkIssuer(deps, changes.issuer);
  await db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('identity_providers')
      .select('name')
      .where('name', '=', params.name)
      .forUpdate()
      .execute();
    const before = await findProvider({ ...deps, db: tx }, params.name);
    if (before === null) throw notFound();
    const settings = completeSettings(withChange(before.settings, changes));
    await checkMapping(tx, caller, settings);
    await tx
      .updateTable('identity_providers')
      .set({
        settings: JSON.stringify(settings),
        ...(secret === undefined
          ? {}
          : { client_secret_sealed: secret === null ? null : seal(secretKey, PROVIDER_PURPOSE, secret) }),
        updated_at: sql`now()`,
      })
      .where('name', '=', params.name)
      .execute();
    await recordEvent(tx, caller, {
      event: 'provider.changed',
      metadata: {
        provider: params.name,
        changed: [...Object.keys(changes), ...(secret === undefined ? [] : ['client_secret'])].sort(),
      },
    });
  });
  const provider = await findProvider(deps, params.name);
  if (provider === null) throw notFound();
  return { status: 200, body: shown(provider, await ownAddress(deps, http)) };
});

export const remove = handle(deleteProvider, async (deps, { caller, params }) => {
  checkStored(deps, params.name);
  await deps.db.transaction().execute(async (tx) => {
    const removed = await tx
      .deleteFrom('identity_providers')
      .where('name', '=', params.name)
      .returning('name')
      .executeTakeFirst();
    if (removed === undefined) throw notFound();
    await recordEvent(tx, caller, { event: 'provider.removed', metadata: { provider: params.name } });
  });
  return { status: 204 };
});
