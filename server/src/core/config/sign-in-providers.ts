import { OidcSettings } from '@vitrine/contract/providers';
import Value from 'typebox/value';
import { oneOf, type SettingSource } from './setting-source.ts';

const names = [
  'VITRINE_OIDC_LABEL',
  'VITRINE_OIDC_ENABLED',
  'VITRINE_OIDC_CREATION',
  'VITRINE_OIDC_ALLOWED_DOMAINS',
  'VITRINE_OIDC_CLAIMS',
  'VITRINE_OIDC_DEFAULT_ROLE',
  'VITRINE_OIDC_ROLE_MAPPING',
  'VITRINE_OIDC_TEAM_MAPPING',
  'VITRINE_OIDC_TRUST_SECOND_FACTOR',
  'VITRINE_OIDC_CLOCK_TOLERANCE_SECONDS',
  'VITRINE_OIDC_ISSUER',
  'VITRINE_OIDC_CLIENT_ID',
  'VITRINE_OIDC_CLIENT_SECRET',
  'VITRINE_OIDC_SCOPES',
  'VITRINE_OIDC_ID_TOKEN_ALG',
] as const;
type Name = (typeof names)[number];

export const signInProviderSettingNames = [...names, 'VITRINE_PROVIDER_PRIVATE_ADDRESSES'] as const;
type Source = SettingSource<(typeof signInProviderSettingNames)[number]>;

/** The OpenID Connect provider of the environment. */
interface ConfiguredOidc {
  settings: OidcSettings;
  clientSecret: string | null;
}

export interface SignInProviderSettings {
  /** Null: only providers that are stored in the library. */
  oidc: ConfiguredOidc | null;
  /** Whether providers may have private addresses and addresses without TLS. */
  providerPrivateAddresses: boolean;
}

/** The settings of a provider for which nothing is given. */
export const oidcDefaults = {
  enabled: true,
  creation: 'invited',
  allowed_domains: [],
  claims: {},
  default_role: 'member',
  role_mapping: [],
  team_mapping: [],
  trust_second_factor: false,
  clock_tolerance_seconds: 30,
  scopes: ['openid', 'profile', 'email'],
} satisfies Partial<OidcSettings>;

/** Parses the text of a setting by the kind of its property; text that does not parse fails the validation. */
function parse(property: string, text: string): unknown {
  if (property === 'allowed_domains' || property === 'scopes')
    return text.split(',').map((entry) => entry.trim());
  if (property === 'enabled' || property === 'trust_second_factor')
    return text === 'on' || text === 'true' ? true : text === 'off' || text === 'false' ? false : text;
  if (property === 'clock_tolerance_seconds') return /^\d+$/.test(text) ? Number(text) : text;
  if (!['claims', 'role_mapping', 'team_mapping'].includes(property)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readOidc({ value, refusal }: Source): ConfiguredOidc | null {
  const given = names.flatMap((name) => {
    const text = value(name);
    return text === null || name === 'VITRINE_OIDC_CLIENT_SECRET' ? [] : [[propertyOf(name), text] as const];
  });
  const clientSecret = value('VITRINE_OIDC_CLIENT_SECRET');
  if (given.length === 0 && clientSecret === null) return null;
  for (const name of ['VITRINE_OIDC_ISSUER', 'VITRINE_OIDC_CLIENT_ID'] as const)
    if (value(name) === null) throw refusal(`${name} is missing: the provider oidc needs it`);
  const parsed = Object.fromEntries(given.map(([property, text]) => [property, parse(property, text)]));
  const settings: unknown = { label: 'Single sign-on', ...oidcDefaults, ...parsed };
  if (Value.Check(OidcSettings, settings)) return { settings, clientSecret };
  const faulty = names.find((name) => {
    const [first] = Value.Errors(OidcSettings, settings);
    return first?.instancePath.startsWith(`/${propertyOf(name)}`) === true;
  });
  throw refusal(`${faulty ?? 'one of VITRINE_OIDC_*'} has a value that it may not have`);
}

function propertyOf(name: Name): string {
  return name.slice('VITRINE_OIDC_'.length).toLowerCase();
}

/** Reads the providers of the environment (SSO-4). */
export function readSignInProviderSettings(source: Source): SignInProviderSettings {
  return {
    oidc: readOidc(source),
    providerPrivateAddresses:
      oneOf(source, 'VITRINE_PROVIDER_PRIVATE_ADDRESSES', 'off', ['on', 'off']) === 'on',
  };
}
