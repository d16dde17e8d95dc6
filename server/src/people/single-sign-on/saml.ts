import type { CacheProvider, Profile, SAML } from '@node-saml/node-saml';
import { basePath } from '@vitrine/contract/operations';
import type { Config } from '../../core/config.ts';
import { type IdpMetadata, readIdpMetadata, samlLimits } from '../../core/saml-metadata.ts';
import { guardedFetch, OutboundFailure, parseOutboundUrl } from '../../platform/http/guarded-fetch.ts';
import { readBoundedXml, XmlFault } from '../../platform/xml/bounded-xml.ts';
import type { SamlProvider } from '../identity/provider-registry.ts';
import { SignInFailure } from './failure.ts';
import type { Binding } from './flows.ts';
import { type Person, personOf } from './person.ts';

const TIMEOUT_MS = 10_000;
const FLOW_MS = 10 * 60 * 1000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

// Only libraries with such a provider load the client.
const load = () => import('@node-saml/node-saml');
const loadDecryption = () => import('./decryption.ts');

export interface SamlDeps {
  config: Pick<Config, 'providerPrivateAddresses'>;
}

/** Returns the address to which the provider's page posts its response. */
export function acsUrl(baseUrl: string, name: string): string {
  return `${baseUrl}${basePath}/auth/saml/${name}/callback`;
}

/** Returns the address of the metadata of this library, which is also its entity id if no other is configured. */
export function metadataUrl(baseUrl: string, name: string): string {
  return `${baseUrl}${basePath}/auth/saml/${name}/metadata`;
}

export function spEntityId({ name, settings }: SamlProvider, baseUrl: string): string {
  return settings.sp_entity_id ?? metadataUrl(baseUrl, name);
}

/** The id of a request: an XML name, which the response repeats. */
const requestId = ({ nonce }: Binding): string => `_${nonce}`;

/**
 * Returns what the settings or the fetched metadata say of the provider. Nothing is cached, so that new keys count at once
 * (decision 721).
 */
export async function describe({ config }: SamlDeps, { settings }: SamlProvider): Promise<IdpMetadata> {
  const { entity_id, sso_url, certificates, metadata_url } = settings;
  if (entity_id !== undefined && sso_url !== undefined && certificates !== undefined)
    return { entity_id, sso_url, certificates };
  const privateAddresses = config.providerPrivateAddresses;
  const limits = { privateAddresses, timeoutMs: TIMEOUT_MS, mostBytes: samlLimits.mostBytes };
  try {
    const response = await guardedFetch(limits, metadata_url ?? '');
    if (response.status !== 200) throw new OutboundFailure(`it responds with ${response.status}`);
    const metadata = readIdpMetadata(await response.text());
    if (parseOutboundUrl(metadata.sso_url, privateAddresses) === null)
      throw new OutboundFailure('its metadata names an address that is not allowed');
    return metadata;
  } catch (error) {
    if (error instanceof OutboundFailure || error instanceof XmlFault)
      throw new SignInFailure('unavailable', error.message);
    throw error;
  }
}

/** Knows the one request that a response may answer. */
function oneRequest(id: string): CacheProvider {
  return {
    saveAsync: async () => null,
    getAsync: async (key) => (key === id ? new Date().toISOString() : null),
    removeAsync: async () => null,
  };
}

async function openClient(
  provider: SamlProvider,
  idp: IdpMetadata,
  binding: Binding,
  baseUrl: string,
): Promise<SAML> {
  const { SAML, ValidateInResponseTo } = await load();
  const { name, settings } = provider;
  const entityId = spEntityId(provider, baseUrl);
  return new SAML({
    callbackUrl: acsUrl(baseUrl, name),
    issuer: entityId,
    audience: entityId,
    entryPoint: idp.sso_url,
    idpCert: idp.certificates,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    wantAssertionsSigned: settings.signed === 'assertion' || settings.signed === 'both',
    wantAuthnResponseSigned: settings.signed === 'response' || settings.signed === 'both',
    acceptedClockSkewMs: settings.clock_tolerance_seconds * 1000,
    validateInResponseTo: ValidateInResponseTo.always,
    requestIdExpirationPeriodMs: FLOW_MS,
    generateUniqueId: () => requestId(binding),
    cacheProvider: oneRequest(requestId(binding)),
    ...(provider.decryption === null ? {} : { decryptionPvk: provider.decryption.privateKey }),
  });
}

/** Returns the address at the provider where the person signs in. */
export async function samlAuthorizationUrl(
  deps: SamlDeps,
  provider: SamlProvider,
  binding: Binding,
  baseUrl: string,
): Promise<string> {
  const client = await openClient(provider, await describe(deps, provider), binding, baseUrl);
  return client.getAuthorizeUrlAsync(binding.state, undefined, {});
}

/** An element as xml2js writes it: attributes in `$`, text in `_`, and lists of children by name. */
type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function childrenOf(node: Node | undefined, name: string): Node[] {
  const value = node === undefined || !Object.hasOwn(node, name) ? [] : node[name];
  return (Array.isArray(value) ? value : [value]).filter(isNode);
}

function attributeOf(node: Node | undefined, name: string): string | null {
  const [attributes] = childrenOf(node, '$');
  const value = attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : null;
  return typeof value === 'string' ? value : null;
}

interface Expected {
  idp: IdpMetadata;
  acs: string;
  request: string;
  toleranceMs: number;
}

/** Whether a confirmation is of the bearer, for this library, this request and this time. */
function confirms(confirmation: Node, { acs, request, toleranceMs }: Expected): boolean {
  const [data] = childrenOf(confirmation, 'SubjectConfirmationData');
  const until = Date.parse(attributeOf(data, 'NotOnOrAfter') ?? '');
  return (
    attributeOf(confirmation, 'Method') === BEARER &&
    attributeOf(data, 'Recipient') === acs &&
    attributeOf(data, 'InResponseTo') === request &&
    until + toleranceMs > Date.now()
  );
}

/** Checks what node-saml leaves to its caller; throws SignInFailure (SSO-25). */
function checkAssertion(profile: Profile, expected: Expected): void {
  const invalid = (message: string) => new SignInFailure('invalid', message);
  if (profile.issuer !== expected.idp.entity_id) throw invalid('the assertion has another issuer');
  const assertion = profile.getAssertion?.().Assertion;
  const [subject] = isNode(assertion) ? childrenOf(assertion, 'Subject') : [];
  const confirmations = childrenOf(subject, 'SubjectConfirmation');
  if (!confirmations.some((confirmation) => confirms(confirmation, expected)))
    throw invalid('no confirmation of the subject is for this library, this request and this time');
  if (profile.nameIDFormat === TRANSIENT)
    throw invalid('the NameID is transient; the provider must send a permanent one');
}

/** Checks the unsigned frame of the response, linearly and before a tree is built of it; throws XmlFault. */
function checkFrame(xml: string, { idp, acs }: Expected): void {
  let depth = 0;
  let assertions = 0;
  let statuses = 0;
  let issuer: string | null = null;
  readBoundedXml(
    xml,
    { ...samlLimits, comments: false },
    {
      open({ local, attributes }) {
        depth += 1;
        if (depth === 1 && local !== 'Response') throw new XmlFault('the document is not a response');
        const destination = attributes.Destination?.value;
        if (depth === 1 && destination !== undefined && destination !== '' && destination !== acs)
          throw new XmlFault('the response has another destination');
        if (depth === 2 && local === 'Issuer') issuer = '';
        const algorithm = attributes.Algorithm?.value ?? '';
        // Its errors tell about the plaintext.
        if (local === 'EncryptionMethod' && algorithm.endsWith('rsa-1_5'))
          throw new XmlFault('RSA 1.5 is not allowed');
        if (local === 'Assertion' || local === 'EncryptedAssertion') assertions += 1;
        if (depth !== 3 || local !== 'StatusCode') return;
        statuses += 1;
        if (attributes.Value?.value !== SUCCESS) throw new XmlFault('the provider reports a failure');
      },
      text(text) {
        if (depth === 2 && issuer !== null && assertions === 0 && statuses === 0) issuer += text;
      },
      close() {
        depth -= 1;
      },
    },
  );
  if (assertions !== 1) throw new XmlFault('the response must have exactly one assertion');
  if (issuer !== null && String(issuer).trim() !== idp.entity_id)
    throw new XmlFault('the response has another issuer');
}

/** Reads the attributes of an assertion about the person with this NameID. */
export function personOfAttributes(
  attributes: Readonly<Record<string, unknown>>,
  nameId: string,
  { settings }: Pick<SamlProvider, 'settings'>,
  idp: Pick<IdpMetadata, 'entity_id'>,
): Person {
  // SAML has no claim for it: an e-mail of the provider counts as verified.
  const claims = { ...attributes, NameID: nameId, email_verified: true };
  const names = {
    username: 'NameID',
    fullname: 'displayName',
    email: 'mail',
    groups: 'groups',
    ...settings.claims,
  };
  return personOf('saml', idp.entity_id, nameId, claims, names);
}

/** Verifies a response and returns the person whom it asserts; throws SignInFailure (SSO-25). */
export async function personOfAssertion(
  deps: SamlDeps,
  provider: SamlProvider,
  binding: Binding,
  { response, baseUrl }: { response: string; baseUrl: string },
): Promise<Person> {
  const idp = await describe(deps, provider);
  const expected: Expected = {
    idp,
    acs: acsUrl(baseUrl, provider.name),
    request: requestId(binding),
    toleranceMs: provider.settings.clock_tolerance_seconds * 1000,
  };
  const client = await openClient(provider, idp, binding, baseUrl);
  try {
    const xml = Buffer.from(response, 'base64').toString();
    checkFrame(xml, expected);
    if (provider.decryption !== null) {
      const { checkEncrypted } = await loadDecryption();
      await checkEncrypted(xml, provider.decryption.privateKey);
    }
    const { profile } = await client.validatePostResponseAsync({ SAMLResponse: response });
    if (profile === null) throw new SignInFailure('cancelled', 'the provider did not sign the person in');
    checkAssertion(profile, expected);
    const { nameID, attributes } = profile;
    return personOfAttributes(isNode(attributes) ? attributes : {}, nameID, provider, idp);
  } catch (error) {
    if (error instanceof SignInFailure) throw error;
    const message = error instanceof Error ? error.message : 'unknown error';
    throw new SignInFailure('invalid', message.slice(0, 500));
  }
}
