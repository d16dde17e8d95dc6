import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { signRequest, verifyRequest } from '@fedify/fedify';
import { preloadedContexts } from '@fedify/fedify/runtime';
import { CryptographicKey } from '@fedify/fedify/vocab';

export const TYPE = 'application/activity+json';
const context = ['https://www.w3.org/ns/activitystreams', 'https://w3id.org/security/v1'];

/** Half as long as fedify's own keys, which take seconds to generate. */
const rsa = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};

export type Json = Record<string, unknown>;

/** An activity that arrived, with a signature that was verified. */
interface Received {
  activity: Json;
  /** The address of the key that signed it. */
  keyId: string;
  /** Which of the two signature schemes was used. */
  scheme: 'draft-cavage' | 'rfc9421';
}

/** A person on another system, served over real HTTP on this machine. */
export interface RemotePerson {
  uri: string;
  inbox: string;
  received: Received[];
  /** Requests that arrived, whether or not they were accepted. */
  attempts: string[];
  /** Responds to activities with this status without reading them; null accepts them. */
  refuseWith: (request: IncomingMessage) => number | null | Promise<number | null>;
  /** The document served for the person. */
  document: Json;
  /** Replaces how the document is served. */
  serve: ((response: import('node:http').ServerResponse, path: string) => void) | null;
  send(inbox: string, activity: Json, options?: SendOptions): Promise<Response>;
  /** Signs a text with the key of the person, in base64. */
  sign(text: string): Promise<string>;
  close(): Promise<void>;
}

interface SendOptions {
  keyId?: string;
  /** Changes what is sent after it was signed. */
  tamper?: (body: string) => string;
  unsigned?: boolean;
}

async function toPem(key: CryptoKey): Promise<string> {
  const spki = Buffer.from(await crypto.subtle.exportKey('spki', key)).toString('base64');
  return `-----BEGIN PUBLIC KEY-----\n${spki.replaceAll(/(.{64})/g, '$1\n')}\n-----END PUBLIC KEY-----\n`;
}

/** A cache of documents, like that of real systems: keys of deleted actors remain known. */
const documents = new Map<string, unknown>(Object.entries(preloadedContexts));

async function load(url: string) {
  if (!documents.has(url)) {
    const response = await fetch(url, { headers: { accept: TYPE } });
    if (!response.ok) throw new Error(`${url} responds with ${response.status}`);
    documents.set(url, await response.json());
  }
  return { contextUrl: null, documentUrl: url, document: documents.get(url) };
}

/** Starts a remote person who follows accounts, on a free port. */
export async function startPerson(name = 'mallory'): Promise<RemotePerson> {
  const keys = await crypto.subtle.generateKey(rsa, true, ['sign', 'verify']);
  const pem = await toPem(keys.publicKey);
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const uri = `${base}/users/${name}`;

  const person: RemotePerson = {
    uri,
    inbox: `${uri}/inbox`,
    received: [],
    attempts: [],
    refuseWith: () => null,
    serve: null,
    document: {
      '@context': context,
      id: uri,
      type: 'Person',
      preferredUsername: name,
      inbox: `${uri}/inbox`,
      outbox: `${uri}/outbox`,
      publicKey: { id: `${uri}#main-key`, owner: uri, publicKeyPem: pem },
    },
    async send(inbox, activity, { keyId = `${uri}#main-key`, tamper, unsigned } = {}) {
      const body = JSON.stringify({ '@context': context, ...activity });
      const bare = new Request(inbox, { method: 'POST', headers: { 'content-type': TYPE }, body });
      const request =
        unsigned === true
          ? bare
          : await signRequest(bare, keys.privateKey, new URL(keyId), {
              spec: 'draft-cavage-http-signatures-12',
            });
      const headers = new Headers(request.headers);
      // Node sets it from the address.
      headers.delete('host');
      return fetch(inbox, { method: 'POST', headers, body: tamper === undefined ? body : tamper(body) });
    },
    async sign(text) {
      const signature = await crypto.subtle.sign(rsa.name, keys.privateKey, Buffer.from(text));
      return Buffer.from(signature).toString('base64');
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function receive(request: IncomingMessage): Promise<number> {
    const refusal = await person.refuseWith(request);
    const bytes = await buffer(request);
    const scheme = request.headers['signature-input'] === undefined ? 'draft-cavage' : 'rfc9421';
    person.attempts.push(scheme);
    if (refusal !== null) return refusal;
    const headers = new Headers();
    for (const [header, value] of Object.entries(request.headers))
      if (typeof value === 'string') headers.set(header, value);
    const init = { method: 'POST', headers, body: new Uint8Array(bytes) };
    const arrived = new Request(`${base}${request.url ?? ''}`, init);
    const key = await verifyRequest(arrived, { documentLoader: load, contextLoader: load });
    if (!(key instanceof CryptographicKey) || key.id === null) return 401;
    person.received.push({ activity: JSON.parse(bytes.toString()) as Json, keyId: key.id.href, scheme });
    return 202;
  }

  server.on('request', (request, response) => {
    if (request.method === 'POST') {
      receive(request).then(
        (status) => response.writeHead(status).end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
      return;
    }
    if (person.serve !== null) return person.serve(response, request.url ?? '');
    response.writeHead(200, { 'content-type': TYPE }).end(JSON.stringify(person.document));
  });
  return person;
}
