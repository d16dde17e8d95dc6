import { inflateRawSync } from 'node:zlib';
import { signXml } from '@node-saml/node-saml/lib/xml.js';
import * as samlify from 'samlify';
import { createDecryptionKey } from '../../src/people/single-sign-on/decryption.ts';

samlify.setSchemaValidator({ validate: async () => 'not validated' });

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** A person as a SAML provider asserts them. */
export interface AssertedPerson {
  nameId: string;
  mail?: string;
  displayName?: string;
  groups?: readonly string[];
}

/** The request of this library in an address of the provider. */
export interface SamlRequest {
  id: string;
  relayState: string;
  /** Parameters as the provider receives them. */
  query: Record<string, string>;
}

export function readRequest(location: string): SamlRequest {
  const query = Object.fromEntries(new URL(location).searchParams);
  const xml = inflateRawSync(Buffer.from(query.SAMLRequest ?? '', 'base64')).toString();
  return { id: /\bID="([^"]+)"/.exec(xml)?.[1] ?? '', relayState: query.RelayState ?? '', query };
}

/** What a response says; tests change parts of it. */
export interface ResponseParts {
  issuer: string;
  responseIssuer: string;
  acs: string;
  recipient: string;
  destination: string;
  audience: string;
  request: string;
  subjectRequest: string;
  nameId: string;
  format: string;
  person: AssertedPerson;
  notBefore: Date;
  notOnOrAfter: Date;
  status: string;
}

const escapeText = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

function attribute(name: string, values: readonly string[]): string {
  const written = values.map((value) => `<saml:AttributeValue>${escapeText(value)}</saml:AttributeValue>`);
  return `<saml:Attribute Name="${name}">${written.join('')}</saml:Attribute>`;
}

export function assertionXml(parts: ResponseParts, id = '_assertion'): string {
  const { person } = parts;
  const attributes = [
    ...(person.mail === undefined ? [] : [attribute('mail', [person.mail])]),
    ...(person.displayName === undefined ? [] : [attribute('displayName', [person.displayName])]),
    ...(person.groups === undefined ? [] : [attribute('groups', person.groups)]),
  ];
  const [from, until] = [parts.notBefore.toISOString(), parts.notOnOrAfter.toISOString()];
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${from}">` +
    `<saml:Issuer>${parts.issuer}</saml:Issuer>` +
    `<saml:Subject><saml:NameID Format="${parts.format}">${parts.nameId}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="${BEARER}"><saml:SubjectConfirmationData NotOnOrAfter="${until}" ` +
    `Recipient="${parts.recipient}" InResponseTo="${parts.subjectRequest}"/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${from}" NotOnOrAfter="${until}"><saml:AudienceRestriction>` +
    `<saml:Audience>${parts.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${from}"><saml:AuthnContext><saml:AuthnContextClassRef>` +
    'urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>' +
    `<saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement></saml:Assertion>`
  );
}

export function responseXml(parts: ResponseParts, content: string): string {
  return (
    '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_response" Version="2.0" ' +
    `IssueInstant="${parts.notBefore.toISOString()}" Destination="${parts.destination}" InResponseTo="${parts.request}">` +
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${parts.responseIssuer}</saml:Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${parts.status}"/></samlp:Status>` +
    `${content}</samlp:Response>`
  );
}

/** A provider of SAML with real keys. */
export async function openSamlProvider(entityId: string) {
  const [own, foreign] = [await createDecryptionKey(), await createDecryptionKey()];
  const settings = {
    entityID: entityId,
    privateKey: own.privateKey,
    signingCert: own.certificate,
    wantAuthnRequestsSigned: false,
    singleSignOnService: [{ Binding: REDIRECT, Location: `${entityId}/sso` }],
  };
  const metadata = samlify.IdentityProvider(settings).getMetadata();
  const sign = (xml: string, element: 'Assertion' | 'Response', privateKey = own.privateKey) => {
    const path = `//*[local-name()='${element}']`;
    const place = { reference: `${path}/*[local-name()='Issuer']`, action: 'after' } as const;
    return signXml(xml, path, place, { privateKey, signatureAlgorithm: 'sha256', digestAlgorithm: 'sha256' });
  };
  return {
    entityId,
    metadata,
    certificate: own.certificate,
    foreignKey: foreign.privateKey,
    sign,
    /** Returns the response that samlify, as a provider, makes for a request. */
    async respond(request: SamlRequest, person: AssertedPerson, spMetadata: string): Promise<string> {
      const { context } = samlify.SamlLib.defaultLoginResponseTemplate;
      const idp = samlify.IdentityProvider({
        ...settings,
        loginResponseTemplate: {
          context,
          attributes: (['mail', 'displayName', 'groups'] as const).map((name) => ({
            name,
            valueTag: name,
            nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
            valueXsiType: 'xs:string',
          })),
        },
      });
      const sp = samlify.ServiceProvider({ metadata: spMetadata });
      const { extract } = await idp.parseLoginRequest(sp, 'redirect', { query: request.query });
      const replace = (template: string) => {
        const now = Date.now();
        const later = new Date(now + 300_000).toISOString();
        const acs = sp.entityMeta.getAssertionConsumerService('post');
        const values: Record<string, string> = {
          ID: '_samlify_response',
          AssertionID: '_samlify_assertion',
          Destination: String(acs),
          Audience: sp.entityMeta.getEntityID(),
          SubjectRecipient: String(acs),
          NameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
          NameID: person.nameId,
          Issuer: entityId,
          IssueInstant: new Date(now).toISOString(),
          ConditionsNotBefore: new Date(now - 1000).toISOString(),
          ConditionsNotOnOrAfter: later,
          SubjectConfirmationDataNotOnOrAfter: later,
          AssertionConsumerServiceURL: String(acs),
          EntityID: sp.entityMeta.getEntityID(),
          InResponseTo: request.id,
          StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success',
          AuthnStatement: '',
          attrMail: person.mail ?? '',
          attrDisplayName: person.displayName ?? '',
          attrGroups: person.groups?.[0] ?? '',
        };
        return { id: '_samlify_response', context: samlify.SamlLib.replaceTagsByValue(template, values) };
      };
      const made = await idp.createLoginResponse(
        sp,
        { extract },
        'post',
        {},
        { customTagReplacement: replace },
      );
      return made.context;
    },
  };
}
