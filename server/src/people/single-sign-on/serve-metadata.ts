import { getSamlMetadata } from '@vitrine/contract/provider-sign-in';
import { handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { ownAddress } from '../identity/own-address.ts';
import { findEnabledProvider } from '../identity/provider-registry.ts';
import { acsUrl, spEntityId } from './saml.ts';

/** SSO-26: the metadata of this library for a provider. */
export const serveMetadata = handle(getSamlMetadata, async (deps, { params, http }) => {
  const provider = await findEnabledProvider(deps, params.name);
  if (provider?.kind !== 'saml') throw notFound();
  const baseUrl = await ownAddress(deps, http);
  const { generateServiceProviderMetadata } = await import('@node-saml/node-saml');
  const xml = generateServiceProviderMetadata({
    issuer: spEntityId(provider, baseUrl),
    callbackUrl: acsUrl(baseUrl, provider.name),
    ...(provider.decryption === null
      ? {}
      : {
          decryptionPvk: provider.decryption.privateKey,
          decryptionCert: provider.decryption.certificate,
        }),
    wantAssertionsSigned: provider.settings.signed === 'assertion' || provider.settings.signed === 'both',
  });
  return { status: 200, headers: { 'content-type': 'application/samlmetadata+xml' }, body: Buffer.from(xml) };
});
