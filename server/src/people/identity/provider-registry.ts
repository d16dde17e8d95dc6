import { basePath } from '@vitrine/contract/operations';
import { OidcSettings } from '@vitrine/contract/providers';
import type { Deps } from '../../core/deps.ts';
import type { Columns } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { unseal } from './seal.ts';

/** A provider that signs people in by redirect (SSO-1). */
export interface RedirectProvider {
  name: string;
  kind: 'oidc';
  source: 'environment' | 'library';
  settings: OidcSettings;
  clientSecret: string | null;
}

export type RegistryDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

export const PROVIDER_PURPOSE = 'identity-provider';

const isSettings = compileLater(OidcSettings);

/** The provider of the environment is always named `oidc`. */
export const ENVIRONMENT_NAME = 'oidc';

/** Names that other ways to sign in have. */
export const reservedNames: ReadonlySet<string> = new Set(['password', 'passkey', 'ldap', 'saml']);

function providerOf(
  secretKey: string,
  row: Columns<'identity_providers', 'name' | 'settings' | 'client_secret_sealed'>,
): RedirectProvider {
  const { name, settings, client_secret_sealed: sealed } = row;
  if (!isSettings().Check(settings)) throw new Error(`the stored settings of provider ${name} are not valid`);
  const clientSecret = sealed === null ? null : unseal(secretKey, PROVIDER_PURPOSE, sealed);
  return { name, kind: 'oidc', source: 'library', settings, clientSecret };
}

/** Returns every provider: the one of the environment first, then those of the library by name. */
export async function readProviders({ db, config, secretKey }: RegistryDeps): Promise<RedirectProvider[]> {
  const rows = await db.selectFrom('identity_providers').selectAll().orderBy('name').execute();
  const stored = rows.map((row) => providerOf(secretKey, row));
  if (config.oidc === null) return stored;
  // A stored provider of that name is hidden while the environment has one.
  const others = stored.filter(({ name }) => name !== ENVIRONMENT_NAME);
  return [{ name: ENVIRONMENT_NAME, kind: 'oidc', source: 'environment', ...config.oidc }, ...others];
}

/** Returns the provider with this name, or null. */
export async function findProvider(deps: RegistryDeps, name: string): Promise<RedirectProvider | null> {
  return (await readProviders(deps)).find((provider) => provider.name === name) ?? null;
}

/** Returns the provider with this name if people may sign in with it, or null. */
export async function findEnabledProvider(
  deps: RegistryDeps,
  name: string,
): Promise<RedirectProvider | null> {
  const provider = await findProvider(deps, name);
  return provider?.settings.enabled === true ? provider : null;
}

/** Returns the path where a sign-in with the provider starts. */
export function startPath({ kind, name }: Pick<RedirectProvider, 'kind' | 'name'>): string {
  return `${basePath}/auth/${kind}/${name}/start`;
}
