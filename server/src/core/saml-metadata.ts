import { X509Certificate } from 'node:crypto';
import type { SaxesTagNS } from 'saxes';
import { sentence } from '../platform/language/sentence.ts';
import { readBoundedXml, XmlFault } from '../platform/xml/bounded-xml.ts';

/** What the metadata of a SAML provider says of it. */
export interface IdpMetadata {
  entity_id: string;
  sso_url: string;
  /** PEM; the keys of which one signs responses. */
  certificates: string[];
}

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const MOST_CERTIFICATES = 10;

/** SSO-25. */
export const samlLimits = { mostBytes: 256 * 1024, mostDepth: 100 };

/** Returns a certificate as PEM, from PEM or its base64 alone; null if it is none. */
export function certificateOf(text: string): string | null {
  const body = text.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, '');
  try {
    return new X509Certificate(Buffer.from(body, 'base64')).toString();
  } catch {
    return null;
  }
}

const attributeIn = (tag: SaxesTagNS, name: string): string | undefined => tag.attributes[name]?.value;

/** Reads the metadata of one provider: its entity id, its address for HTTP-Redirect, and its keys. Throws XmlFault. */
export function readIdpMetadata(xml: string): IdpMetadata {
  const path: string[] = [];
  const entities: string[] = [];
  const addresses: string[] = [];
  const certificates = new Set<string>();
  let use: string | undefined;
  let certificate: string | null = null;
  const isIn = (...names: string[]) => names.every((name) => path.includes(name));
  readBoundedXml(
    xml,
    { ...samlLimits, comments: true },
    {
      open(tag) {
        const { uri, local } = tag;
        path.push(uri === METADATA || uri === SIGNATURE ? local : '');
        if (uri === METADATA && local === 'EntityDescriptor')
          entities.push(attributeIn(tag, 'entityID') ?? '');
        if (!isIn('IDPSSODescriptor')) return;
        if (uri === METADATA && local === 'KeyDescriptor') use = attributeIn(tag, 'use');
        if (uri === METADATA && local === 'SingleSignOnService' && attributeIn(tag, 'Binding') === REDIRECT)
          addresses.push(attributeIn(tag, 'Location') ?? '');
        if (uri === SIGNATURE && local === 'X509Certificate' && isIn('KeyDescriptor') && use !== 'encryption')
          certificate = '';
      },
      text(text) {
        if (certificate !== null) certificate += text;
      },
      close({ local }) {
        path.pop();
        if (local !== 'X509Certificate' || certificate === null) return;
        const pem = certificateOf(certificate);
        if (pem === null) throw new XmlFault(sentence('a certificate cannot be read'));
        certificates.add(pem);
        certificate = null;
      },
    },
  );
  const [entityId = ''] = entities;
  const [ssoUrl = ''] = addresses;
  if (entities.length !== 1 || entityId === '')
    throw new XmlFault(sentence('the metadata must describe one provider'));
  if (ssoUrl === '')
    throw new XmlFault(sentence('the metadata has no address for the binding HTTP-Redirect'));
  if (certificates.size === 0 || certificates.size > MOST_CERTIFICATES)
    throw new XmlFault(
      sentence('the metadata must have 1 to {max} certificates for signing', { max: MOST_CERTIFICATES }),
    );
  return { entity_id: entityId, sso_url: ssoUrl, certificates: [...certificates] };
}
