import {
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  type OidcSettings,
  type Provider,
  type ProviderCreate,
  type ProviderKind,
  type SamlSettings,
  updateProvider,
} from '@vitrine/contract/providers';
import { sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import type { SignedIn } from '../../access/caller.ts';
import { checkMayFill } from '../../access/teams.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { pageByCode } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { ownAddress } from '../identity/own-address.ts';
import {
  configuredProviders,
  findProvider,
  PROVIDER_PURPOSE,
  type RedirectProvider,
  readProviders,
  reservedNames,
} from '../identity/provider-registry.ts';
import { seal } from '../identity/seal.ts';
import { capabilitiesOfRole, findRole } from '../roles/roles.ts';
import { redirectUri } from './oidc.ts';
import {
  checkAddresses,
  oidcSettings,
  type ProviderPatch,
  providerPatch,
  samlSettings,
} from './provider-settings.ts';
import { acsUrl, metadataUrl, spEntityId } from './saml.ts';

function shown(provider: RedirectProvider, address: string): Provider {
  const { name, kind, source } = provider;
  if (provider.kind === 'oidc')
    return {
      name,
      kind,
      source,
      ...provider.settings,
      has_client_secret: provider.clientSecret !== null,
      redirect_uri: redirectUri(address, name),
    };
  const { metadata_url: idpMetadataUrl, ...settings } = provider.settings;
  return {
    name,
    kind,
    source,
    ...settings,
    ...(idpMetadataUrl === undefined ? {} : { idp_metadata_url: idpMetadataUrl }),
    has_client_secret: false,
    sp_entity_id: spEntityId(provider, address),
    acs_url: acsUrl(address, name),
    metadata_url: metadataUrl(address, name),
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

/** SSO-5: throws 403 for roles and teams that the caller may not give. */
export async function checkMapping(
  tx: Tx,
  caller: SignedIn,
  {
    default_role,
    role_mapping,
    team_mapping,
  }: Pick<OidcSettings, 'default_role' | 'role_mapping' | 'team_mapping'>,
): Promise<void> {
  for (const code of new Set([default_role, ...role_mapping.map(({ role }) => role)])) {
    const role = await findRole(tx, sql`code = ${code}`);
    if (role === null) throw refuse('role-not-found');
    checkMayGive(caller, await capabilitiesOfRole(tx, role.id));
  }
  await checkMayFill(
    tx,
    caller,
    team_mapping.map(({ team_id }) => team_id),
  );
}

function settingsAfter(
  kind: ProviderKind,
  before: Partial<OidcSettings & SamlSettings>,
  changes: ProviderPatch,
) {
  return kind === 'oidc' ? oidcSettings(before, changes) : samlSettings(before, changes);
}

/** Returns the text as stored (SSO-3). */
function sealed({ secretKey }: Deps, secret: string | null | undefined): Buffer | null {
  return secret == null ? null : seal(secretKey, PROVIDER_PURPOSE, secret);
}

/** The secret of a new provider: that of the client, or the key for encrypted assertions (SSO-27). */
async function newSecret(kind: ProviderKind, { client_secret }: ProviderPatch): Promise<string | null> {
  if (kind === 'oidc') return client_secret ?? null;
  const { createDecryptionKey } = await import('./decryption.ts');
  return JSON.stringify(await createDecryptionKey());
}

function isConfigured(deps: Deps, name: string): boolean {
  return configuredProviders(deps).some((provider) => provider.name === name);
}

/** Stores a provider and returns it as written. */
export const create = handle(createProvider, async (deps, { caller, body, http }) => {
  const { db, config } = deps;
  const { name, kind, ...given }: ProviderCreate = body;
  const isTaken = reservedNames.has(name) || isConfigured(deps, name);
  const changes = providerPatch(kind, given);
  const settings = settingsAfter(kind, {}, changes);
  await checkAddresses(config, {}, settings);
  const secret = await newSecret(kind, changes);
  await db.transaction().execute(async (tx) => {
    await checkMapping(tx, caller, settings);
    const row = {
      name,
      kind,
      settings: JSON.stringify(settings),
      client_secret_sealed: sealed(deps, secret),
    };
    const inserted = isTaken
      ? undefined
      : await tx
          .insertInto('identity_providers')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .returning('name')
          .executeTakeFirst();
    if (inserted === undefined) throw refuse('provider-name-taken');
    await recordEvent(tx, caller, {
      event: 'provider.created',
      metadata: { provider: name, issuer: issuerOf(settings) },
    });
  });
  const provider = await findProvider(deps, name);
  if (provider === null) throw notFound();
  return { status: 201, body: shown(provider, await ownAddress(deps, http)) };
});

function issuerOf(settings: OidcSettings | SamlSettings): string | null {
  return 'issuer' in settings ? settings.issuer : (settings.entity_id ?? settings.metadata_url ?? null);
}

function checkStored(deps: Deps, name: string): void {
  if (isConfigured(deps, name)) throw refuse('provider-in-environment');
}

export const update = handle(updateProvider, async (deps, { caller, params, body, http }) => {
  const { db, config } = deps;
  checkStored(deps, params.name);
  await db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('identity_providers')
      .select('name')
      .where('name', '=', params.name)
      .forUpdate()
      .execute();
    const before = await findProvider({ ...deps, db: tx }, params.name);
    if (before === null) throw notFound();
    const changes = providerPatch(before.kind, body);
    const settings = settingsAfter(before.kind, before.settings, changes);
    await checkAddresses(config, before.settings, settings);
    await checkMapping(tx, caller, settings);
    await tx
      .updateTable('identity_providers')
      .set({
        settings: JSON.stringify(settings),
        ...(changes.client_secret === undefined
          ? {}
          : { client_secret_sealed: sealed(deps, changes.client_secret) }),
        updated_at: sql`now()`,
      })
      .where('name', '=', params.name)
      .execute();
    await recordEvent(tx, caller, {
      event: 'provider.changed',
      metadata: { provider: params.name, changed: Object.keys(changes).sort() },
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
    // Its directory ends with it (SCIM-3).
    await tx.deleteFrom('scim_tokens').where('provider', '=', params.name).execute();
    await tx.deleteFrom('scim_groups').where('provider', '=', params.name).execute();
    await recordEvent(tx, caller, { event: 'provider.removed', metadata: { provider: params.name } });
  });
  return { status: 204 };
});
