import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listen } from './listen.ts';

/** What a browser keeps of its subscription. */
export interface PushBrowser {
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
  /** The messages that the service received for this browser, decrypted. */
  messages(): { headers: IncomingHttpHeaders; data: unknown }[];
  /** Answers the following messages for this browser with a status. */
  answer(status: number): void;
}

export interface PushService {
  address: string;
  /** Makes a subscription, as `PushManager.subscribe` does. */
  browser(): PushBrowser;
  close(): Promise<void>;
}

/** Decrypts a message of one record (RFC 8291, RFC 8188). */
function decrypt(ecdh: ReturnType<typeof createECDH>, auth: Buffer, body: Buffer): unknown {
  const salt = body.subarray(0, 16);
  const keyLength = body[20] ?? 0;
  const sender = body.subarray(21, 21 + keyLength);
  const secret = ecdh.computeSecret(sender);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
  const ikm = Buffer.from(hkdfSync('sha256', secret, auth, info, 32));
  const derived = (name: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', ikm, salt, `Content-Encoding: ${name}\0`, bytes));
  const sealed = body.subarray(21 + keyLength);
  const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString('utf8'));
}

/** Opens a push service on 127.0.0.1 that receives messages and decrypts them as browsers do. */
export async function openPushService(): Promise<PushService> {
  const received = new Map<string, { headers: IncomingHttpHeaders; body: Buffer }[]>();
  const statuses = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = statuses.get(path) ?? 201;
      if (status < 300)
        received.set(path, [
          ...(received.get(path) ?? []),
          { headers: request.headers, body: Buffer.concat(chunks) },
        ]);
      response.writeHead(status).end();
    });
  });
  const address = `http://127.0.0.1:${await listen(server)}`;
  return {
    address,
    browser() {
      const ecdh = createECDH('prime256v1');
      ecdh.generateKeys();
      const auth = randomBytes(16);
      const path = `/send/${randomBytes(8).toString('hex')}`;
      return {
        subscription: {
          endpoint: `${address}${path}`,
          keys: {
            p256dh: ecdh.getPublicKey().toString('base64url'),
            auth: auth.toString('base64url'),
          },
        },
        messages: () =>
          (received.get(path) ?? []).map(({ headers, body }) => ({
            headers,
            data: decrypt(ecdh, auth, body),
          })),
        answer: (status) => statuses.set(path, status),
      };
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
