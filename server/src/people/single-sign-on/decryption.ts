import { decryptXml, parseDomFromString, xpath } from '@node-saml/node-saml/lib/xml.js';
import { X509CertificateGenerator } from '@peculiar/x509';
import { samlLimits } from '../../core/saml-metadata.ts';
import { readBoundedXml } from '../../platform/xml/bounded-xml.ts';

/** The key with which this library decrypts assertions, and the certificate that the provider encrypts for (SSO-27). */
export interface DecryptionKey {
  privateKey: string;
  certificate: string;
}

/** Providers compare the key only; they do not check how long its certificate is valid. */
const YEARS = 50;

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 3072,
};

/** Creates a key for one provider. */
export async function createDecryptionKey(): Promise<DecryptionKey> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const notBefore = new Date();
  const notAfter = new Date(notBefore);
  notAfter.setFullYear(notBefore.getFullYear() + YEARS);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=Vitrine',
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    keys,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = pkcs8.match(/.{1,64}/g) ?? [];
  return {
    privateKey: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
    certificate: certificate.toString('pem'),
  };
}

/**
 * Checks what an encrypted assertion contains before node-saml builds a tree of it: everyone can encrypt for this library.
 * Throws if it cannot be decrypted or exceeds the limits.
 */
export async function checkEncrypted(xml: string, privateKey: string): Promise<void> {
  const document = await parseDomFromString(xml);
  const [encrypted] = xpath.selectElements(
    document,
    "/*[local-name()='Response']/*[local-name()='EncryptedAssertion']",
  );
  if (encrypted === undefined) return;
  readBoundedXml(await decryptXml(encrypted.toString(), privateKey), { ...samlLimits, comments: false });
}
