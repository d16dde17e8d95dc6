import type { FastifyRequest } from 'fastify';
import type { Install } from './identity.ts';
import { checkHttpSignature, readSignature } from './protocol/http-signature.ts';
import { Rejection } from './protocol/rejection.ts';
import { parseStrict } from './protocol/strict-json.ts';

/** A signed request with its exact bytes. */
export interface SignedRequest {
  /** The key that the request says it is signed with. */
  keyId: string;
  /** Parses the body; throws Rejection for what is not strict JSON. */
  json(): unknown;
  /** Checks signature, digest and date against the keys; throws Rejection. */
  verify(keyId: string, publicKeys: readonly Buffer[]): void;
}

/** Reads the signature of a request; throws Rejection when there is none or it covers too little. */
export function signedRequest(request: FastifyRequest, own: Install): SignedRequest {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const parts = {
    method: request.method,
    path: request.url,
    headers: request.headers,
    body,
    now: Date.now(),
    host: new URL(own.url).host,
  };
  const signature = readSignature(parts);
  return {
    keyId: signature.keyId,
    json: () => parseStrict(body),
    verify(keyId, publicKeys) {
      if (signature.keyId !== keyId) throw new Rejection('unknown_key', 'the key is not that of the sender');
      checkHttpSignature(parts, signature, publicKeys);
    },
  };
}
