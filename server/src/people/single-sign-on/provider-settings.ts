import type { OidcSettings, ProviderChange, ProviderKind, SamlSettings } from '@vitrine/contract/providers';
import { oidcDefaults, samlDefaults } from '../../core/config/sign-in-providers.ts';
import type { Config } from '../../core/config.ts';
import { certificateOf, type IdpMetadata, readIdpMetadata } from '../../core/saml-metadata.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { parseOutboundUrl } from '../../platform/http/guarded-fetch.ts';
import { isAllowedAddress, resolveSoon } from '../../platform/http/outbound-addresses.ts';
import { type Patch, patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { XmlFault } from '../../platform/xml/bounded-xml.ts';

const common = [
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
] as const;
const own = {
  oidc: ['issuer', 'client_id', 'scopes', 'id_token_alg', 'client_secret'],
  saml: ['entity_id', 'sso_url', 'certificates', 'metadata', 'metadata_url', 'sp_entity_id', 'signed'],
} as const;
const described = ['entity_id', 'sso_url', 'certificates'] as const;

type Property = (typeof common)[number] | (typeof own)[ProviderKind][number];

/** What a request changes; null for what it removes. */
export type ProviderPatch = Patch<ProviderChange, Property>;

/** Returns what a request changes. Refuses (400) properties of the other kind. */
export function providerPatch(kind: ProviderKind, body: ProviderChange): ProviderPatch {
  const other = kind === 'oidc' ? 'saml' : 'oidc';
  const [foreign] = Object.keys(patchOf(body, own[other]));
  if (foreign !== undefined)
    throw refuse('value-invalid', {
      property: foreign,
      reason: sentence('is for providers of the kind {kind}', { kind: other }),
    });
  return patchOf(body, [...common, ...own[kind]]);
}

/** Returns the settings with a change applied; what is removed gets its default. */
function merge<S extends object>(
  defaults: Partial<S>,
  before: Partial<S>,
  changes: Readonly<Record<string, unknown>>,
): Partial<S> {
  const kept = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null);
  // The values are those of the contract's schemas.
  return { ...defaults, ...(Object.fromEntries(kept) as Partial<S>) };
}

function checkPresent(settings: Readonly<Record<string, unknown>>, needed: readonly string[]): void {
  const missing = needed.filter((name) => settings[name] === undefined);
  if (missing.length > 0) throw refuse('value-missing', { object: 'body', missing });
}

/** Returns the settings of an OpenID Connect provider after a change, without its secret. */
export function oidcSettings(before: Partial<OidcSettings>, changes: ProviderPatch): OidcSettings {
  const { client_secret: _, ...rest } = changes;
  const settings = merge<OidcSettings>(oidcDefaults, before, rest);
  checkPresent(settings, ['label', 'issuer', 'client_id']);
  if (settings.scopes?.includes('openid') === false)
    throw refuse('value-invalid', { property: 'scopes', reason: sentence('must include openid') });
  // Nothing is missing.
  return settings as OidcSettings;
}

function readMetadata(xml: string): IdpMetadata {
  try {
    return readIdpMetadata(xml);
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    const reason = sentence('cannot be used: {reason}', { reason: sentenceOfError(error) });
    throw refuse('value-invalid', { property: 'metadata', reason });
  }
}

function readCertificates(texts: readonly string[]): string[] {
  return texts.map((text) => {
    const pem = certificateOf(text);
    if (pem === null)
      throw refuse('value-invalid', {
        property: 'certificates',
        reason: sentence('must be certificates as PEM'),
      });
    return pem;
  });
}

/** Refuses (400) more than one of: metadata, their address, and what they describe. */
function checkSources(changes: ProviderPatch): void {
  const { metadata, metadata_url } = changes;
  const part = described.find((name) => changes[name] != null);
  const sources = [
    ...(metadata == null ? [] : ['metadata']),
    ...(metadata_url == null ? [] : ['metadata_url']),
    ...(part === undefined ? [] : [part]),
  ];
  const [property, other] = sources;
  if (property !== undefined && other !== undefined)
    throw refuse('exclusive-properties', { property, other });
}

/** Returns the settings of a SAML provider after a change. Metadata are stored as what they describe. */
export function samlSettings(before: Partial<SamlSettings>, changes: ProviderPatch): SamlSettings {
  checkSources(changes);
  const { metadata, certificates, ...rest } = changes;
  const given = {
    ...rest,
    ...(certificates == null ? {} : { certificates: readCertificates(certificates) }),
    ...(metadata == null ? {} : readMetadata(metadata)),
  };
  const isDescribed = described.some((name) => name in given);
  const replaced = isDescribed ? ['metadata_url'] : given.metadata_url == null ? [] : described;
  const removed = Object.fromEntries(replaced.map((name) => [name, null]));
  const settings = merge<SamlSettings>(samlDefaults, before, { ...removed, ...given });
  checkPresent(settings, settings.metadata_url === undefined ? ['label', ...described] : ['label']);
  // Nothing is missing.
  return settings as SamlSettings;
}

/** SSO-6: throws 400 for an address that requests may not go to. A name that does not resolve now is accepted. */
async function checkAddress(config: Config, property: string, address: string): Promise<void> {
  const { providerPrivateAddresses: isPrivateAllowed } = config;
  const url = parseOutboundUrl(address, isPrivateAllowed);
  if (url === null) throw refuse('provider-address-private', { property });
  if (property === 'issuer' && (url.search !== '' || url.hash !== ''))
    throw refuse('value-invalid', { property, reason: sentence('must have no query and no fragment') });
  const addresses = await resolveSoon(url.hostname);
  if (addresses.some(({ address: found }) => !isAllowedAddress(found, isPrivateAllowed)))
    throw refuse('provider-address-private', { property });
}

/** Checks the addresses that a change contains. */
export async function checkAddresses(
  config: Config,
  before: Partial<OidcSettings & SamlSettings>,
  settings: Partial<OidcSettings & SamlSettings>,
): Promise<void> {
  for (const property of ['issuer', 'sso_url', 'metadata_url'] as const) {
    const address = settings[property];
    if (address !== undefined && address !== before[property]) await checkAddress(config, property, address);
  }
}
