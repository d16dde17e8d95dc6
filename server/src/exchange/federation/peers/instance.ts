import { closed } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';
import { sentenceOfError } from '../../../platform/faults/worded-errors.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { getJson, type OutboundDeps, OutboundError } from '../outbound.ts';
import { parseInstanceUrl } from '../protocol/addresses.ts';
import { parsePublicKeyPem } from '../protocol/signature.ts';

/** The document at `/federation/instance` of any install. */
export const InstanceDocument = closed({
  '@context': Type.Literal('https://artist-alley.org/protocol/v1'),
  type: Type.Literal('aa:Instance'),
  id: Type.String({ maxLength: 500 }),
  url: Type.String({ maxLength: 500 }),
  name: Type.String({ maxLength: 200 }),
  publicKey: closed({
    id: Type.String({ maxLength: 500 }),
    owner: Type.String({ maxLength: 500 }),
    publicKeyPem: Type.String({ maxLength: 500 }),
  }),
  capabilities: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 }),
});

/** Another install, as its document describes it. */
export interface FoundInstance {
  url: string;
  name: string;
  /** 32 raw bytes. */
  publicKey: Buffer;
  capabilities: string[];
}

const document = compileLater(InstanceDocument);

/** Reads an instance document; null unless it is well-formed and consistent. */
export function readInstance(value: unknown): FoundInstance | null {
  if (!document().Check(value)) return null;
  const found: Static<typeof InstanceDocument> = value;
  const publicKey = parsePublicKeyPem(found.publicKey.publicKeyPem);
  const id = `${found.url}/federation/instance`;
  const consistent =
    found.id === id && found.publicKey.owner === id && found.publicKey.id === `${id}#main-key`;
  if (publicKey === null || !consistent || found.url !== parseInstanceUrl(found.url)) return null;
  const name = found.name.trim() === '' ? new URL(found.url).host : found.name.trim();
  return { url: found.url, name, publicKey, capabilities: found.capabilities };
}

/**
 * Reads the instance document at this address (FED-10). Throws 400 for an invalid address, and 422 if there is
 * no install or it claims another address.
 */
export async function readInstanceAt(deps: OutboundDeps, address: string): Promise<FoundInstance> {
  const url = parseInstanceUrl(address.trim());
  if (url === null) throw refuse('install-address-invalid');
  let found: FoundInstance | null;
  try {
    found = readInstance(await getJson(deps, `${url}/federation/instance`));
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw refuse('install-unreachable', { reason: sentenceOfError(error) });
  }
  if (found === null) throw refuse('install-not-answering');
  if (found.url !== url) throw refuse('install-with-other-address', { address: found.url });
  return found;
}
