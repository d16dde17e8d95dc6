import type { HttpMessageSignaturesSpec } from '@fedify/fedify';
import { getJsonWith, type OutboundDeps, OutboundError, postWith } from '../federation/outbound.ts';

/** The key that signs requests of an actor. */
export interface RequestKey {
  keyId: URL;
  privateKey: CryptoKey;
}

async function signedHeaders(
  { keyId, privateKey }: RequestKey,
  request: Request,
  body: Buffer | null,
  spec: HttpMessageSignaturesSpec,
): Promise<Record<string, string>> {
  const { signRequest } = await import('@fedify/fedify');
  const bytes = body === null ? null : new Uint8Array(body).buffer;
  const signed = await signRequest(request, privateKey, keyId, { spec, body: bytes });
  return Object.fromEntries(signed.headers);
}

/** Statuses that systems return for an unsupported signature. */
const unreadable = new Set([400, 401, 403]);

/** Tries draft-cavage first, which every system reads, and RFC 9421 if that is refused (AP-9). Throws OutboundError. */
async function sendInEitherForm<T>(send: (spec: HttpMessageSignaturesSpec) => Promise<T>): Promise<T> {
  try {
    return await send('draft-cavage-http-signatures-12');
  } catch (error) {
    if (!(error instanceof OutboundError) || !unreadable.has(error.status ?? 0)) throw error;
    return await send('rfc9421');
  }
}

/** Sends an activity to an inbox. Throws OutboundError. */
export async function postActivity(
  deps: OutboundDeps,
  key: RequestKey,
  inbox: string,
  activity: string,
): Promise<void> {
  const body = Buffer.from(activity);
  await sendInEitherForm(async (spec) => {
    const request = new Request(inbox, {
      method: 'POST',
      headers: { 'content-type': 'application/activity+json' },
      body: activity,
    });
    await postWith(deps, inbox, await signedHeaders(key, request, body, spec), body);
  });
}

/** Reads a document as an actor: some systems refuse unsigned requests. Throws OutboundError. */
export function readSigned(deps: OutboundDeps, key: RequestKey, url: string): Promise<unknown> {
  return sendInEitherForm(async (spec) => {
    const request = new Request(url, { headers: { accept: 'application/activity+json' } });
    return getJsonWith(deps, url, await signedHeaders(key, request, null, spec));
  });
}
