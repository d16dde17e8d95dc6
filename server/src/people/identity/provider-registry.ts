import { basePath } from '@vitrine/contract/operations';
import { OidcSettings, SamlSettings } from '@vitrine/contract/providers';
import type { Deps } from '../../core/deps.ts';
import type { Columns } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { unseal } from './seal.ts';

interface NamedProvider {
  name: string;
  source: 'environment' | 'library';
}

export interface OidcProvider extends NamedProvider {
  kind: 'oidc';
  settings: OidcSettings;
  clientSecret: string | null;
}

export interface SamlProvider extends NamedProvider {
  kind: 'saml';
  settings: SamlSettings;
  /** Null for the provider of the environment, which has nowhere to store a key (SSO-27). */
  decryption: { privateKey: string; certificate: string } | null;
}

/** A provider that signs people in by redirect (SSO-1). */
export type RedirectProvider = OidcProvider | SamlProvider;

export type RegistryDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

export const PROVIDER_PURPOSE = 'identity-provider';

const isOidcSettings = compileLater(OidcSettings);
const isSamlSettings = compileLater(SamlSettings);

/** Names that other ways to sign in have. */
export const reservedNames: ReadonlySet<string> = new Set(['password', 'passkey', 'ldap']);

function providerOf(
  secretKey: string,
  row: Columns<'identity_providers', 'name' | 'kind' | 'settings' | 'client_secret_sealed'>,
): RedirectProvider {
  const { name, kind, settings, client_secret_sealed: sealed } = row;
  const provider = { name, source: 'library' } as const;
  const secret = sealed === null ? null : unseal(secretKey, PROVIDER_PURPOSE, sealed);
  if (kind === 'saml' && isSamlSettings().Check(settings))
    return { ...provider, kind, settings, decryption: secret === null ? null : JSON.parse(secret) };
  if (kind === 'saml' || !isOidcSettings().Check(settings))
    throw new Error(`the stored settings of provider ${name} are not valid`);
  return { ...provider, kind: 'oidc', settings, clientSecret: secret };
}

/** Returns the providers of the environment, whose names are their kinds. */
export function configuredProviders({ config }: Pick<Deps, 'config'>): RedirectProvider[] {
  const { oidc, saml } = config;
  const source = 'environment';
  return [
    ...(oidc === null ? [] : [{ name: 'oidc', kind: 'oidc', source, ...oidc } satisfies OidcProvider]),
    ...(saml === null
      ? []
      : [{ name: 'saml', kind: 'saml', source, settings: saml, decryption: null } satisfies SamlProvider]),
  ];
}

/** Returns every provider: those of the environment first, then those of the library by name. */
export async function readProviders({ db, config, secretKey }: RegistryDeps): Promise<RedirectProvider[]> {
  const rows = await db.selectFrom('identity_providers').selectAll().orderBy('name').execute();
  const stored = rows.map((row) => providerOf(secretKey, row));
  const configured = configuredProviders({ config });
  // A stored provider of such a name is hidden while the environment has one.
  const names = new Set(configured.map(({ name }) => name));
  return [...configured, ...stored.filter(({ name }) => !names.has(name))];
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
