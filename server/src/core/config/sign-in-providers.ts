import { OidcSettings, SamlSettings } from '@vitrine/contract/providers';
import type { Static, TSchema } from 'typebox';
import Value from 'typebox/value';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { XmlFault } from '../../platform/xml/bounded-xml.ts';
import { certificateOf, readIdpMetadata } from '../saml-metadata.ts';
import { oneOf, type SettingSource } from './setting-source.ts';

const common = [
  'LABEL',
  'ENABLED',
  'CREATION',
  'ALLOWED_DOMAINS',
  'CLAIMS',
  'DEFAULT_ROLE',
  'ROLE_MAPPING',
  'TEAM_MAPPING',
  'TRUST_SECOND_FACTOR',
  'CLOCK_TOLERANCE_SECONDS',
] as const;
const oidcOnly = ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'SCOPES', 'ID_TOKEN_ALG'] as const;
const samlOnly = [
  'ENTITY_ID',
  'SSO_URL',
  'CERTIFICATES',
  'METADATA',
  'METADATA_URL',
  'SP_ENTITY_ID',
  'SIGNED',
] as const;
type OidcName = `VITRINE_OIDC_${(typeof common)[number] | (typeof oidcOnly)[number]}`;
type SamlName = `VITRINE_SAML_${(typeof common)[number] | (typeof samlOnly)[number]}`;

const oidcNames = [...common, ...oidcOnly].map((name): OidcName => `VITRINE_OIDC_${name}`);
const samlNames = [...common, ...samlOnly].map((name): SamlName => `VITRINE_SAML_${name}`);

export const signInProviderSettingNames = [
  ...oidcNames,
  ...samlNames,
  'VITRINE_PROVIDER_PRIVATE_ADDRESSES' as const,
];
type Source = SettingSource<(typeof signInProviderSettingNames)[number]>;

/** The OpenID Connect provider of the environment. */
interface ConfiguredOidc {
  settings: OidcSettings;
  clientSecret: string | null;
}

export interface SignInProviderSettings {
  /** Null: only providers that are stored in the library. */
  oidc: ConfiguredOidc | null;
  saml: SamlSettings | null;
  /** Whether providers may have private addresses and addresses without TLS. */
  providerPrivateAddresses: boolean;
}

const defaults = {
  enabled: true,
  creation: 'invited',
  allowed_domains: [],
  claims: {},
  default_role: 'member',
  role_mapping: [],
  team_mapping: [],
  trust_second_factor: false,
  clock_tolerance_seconds: 30,
} satisfies Partial<OidcSettings> & Partial<SamlSettings>;

/** The settings of a provider for which nothing is given. */
export const oidcDefaults = {
  ...defaults,
  scopes: ['openid', 'profile', 'email'],
} satisfies Partial<OidcSettings>;
export const samlDefaults = { ...defaults, signed: 'either' } satisfies Partial<SamlSettings>;

/** Parses the text of a setting by the kind of its property; text that does not parse fails the validation. */
function parse(property: string, text: string): unknown {
  if (['allowed_domains', 'scopes', 'certificates'].includes(property))
    return text.split(',').map((part) => part.trim());
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

const propertyOf = (name: string): string => name.replace(/^VITRINE_[A-Z]+_/, '').toLowerCase();

/** Returns the properties that are set, by their names in the contract. */
function readGiven({ value }: Source, names: readonly (OidcName | SamlName)[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = value(name);
      return text === null ? [] : [[propertyOf(name), parse(propertyOf(name), text)]];
    }),
  );
}

function validSettings<S extends TSchema>(
  { refusal }: Source,
  schema: S,
  names: readonly string[],
  settings: unknown,
): Static<S> {
  if (Value.Check(schema, settings)) return settings;
  const [first] = Value.Errors(schema, settings);
  const faulty = names.find((name) => first?.instancePath.startsWith(`/${propertyOf(name)}`) === true);
  const all = sentence('one of {names}', { names: names[0]?.replace(/[A-Z]+$/, '*') ?? '' });
  throw refusal(sentence('{name} has a value that it may not have', { name: faulty ?? all }));
}

function readOidc(source: Source): ConfiguredOidc | null {
  const { client_secret, ...given } = readGiven(source, oidcNames);
  if (client_secret === undefined && Object.keys(given).length === 0) return null;
  for (const name of ['VITRINE_OIDC_ISSUER', 'VITRINE_OIDC_CLIENT_ID'] as const)
    if (source.value(name) === null)
      throw source.refusal(
        sentence('{name} is missing: the provider {provider} needs it', { name, provider: 'oidc' }),
      );
  const settings = { label: 'Single sign-on', ...oidcDefaults, ...given };
  return {
    settings: validSettings(source, OidcSettings, oidcNames, settings),
    clientSecret: source.value('VITRINE_OIDC_CLIENT_SECRET'),
  };
}

function readSaml(source: Source): SamlSettings | null {
  const { metadata, ...given } = readGiven(source, samlNames);
  if (metadata === undefined && Object.keys(given).length === 0) return null;
  const described = { ...given, ...metadataOf(source, metadata) };
  if (described.metadata_url === undefined)
    for (const name of ['ENTITY_ID', 'SSO_URL', 'CERTIFICATES'] as const)
      if (described[name.toLowerCase()] === undefined)
        throw source.refusal(
          sentence('{name} is missing: the provider {provider} needs it, or {other}', {
            name: `VITRINE_SAML_${name}`,
            provider: 'saml',
            other: 'VITRINE_SAML_METADATA_URL',
          }),
        );
  const settings = { label: 'Single sign-on', ...samlDefaults, ...described };
  const valid = validSettings(source, SamlSettings, samlNames, settings);
  if (valid.certificates === undefined) return valid;
  const certificates = valid.certificates.map((text) => {
    const pem = certificateOf(text);
    if (pem === null)
      throw source.refusal(
        sentence('{property} {reason}', {
          property: 'VITRINE_SAML_CERTIFICATES',
          reason: sentence('must be certificates as PEM'),
        }),
      );
    return pem;
  });
  return { ...valid, certificates };
}

function metadataOf({ refusal }: Source, metadata: unknown): Record<string, unknown> {
  if (typeof metadata !== 'string') return {};
  try {
    return { ...readIdpMetadata(metadata) };
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    throw refusal(
      sentence('{property} {reason}', {
        property: 'VITRINE_SAML_METADATA',
        reason: sentence('cannot be used: {reason}', { reason: sentenceOfError(error) }),
      }),
    );
  }
}

/** Reads the providers of the environment (SSO-4). */
export function readSignInProviderSettings(source: Source): SignInProviderSettings {
  return {
    oidc: readOidc(source),
    saml: readSaml(source),
    providerPrivateAddresses:
      oneOf(source, 'VITRINE_PROVIDER_PRIVATE_ADDRESSES', 'off', ['on', 'off']) === 'on',
  };
}
