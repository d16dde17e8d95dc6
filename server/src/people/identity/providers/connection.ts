import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { Client } from 'ldapts';
import type { LdapSettings } from '../../../core/identity-provider-settings.ts';
import { sentence, WordedError } from '../../../platform/language/sentence.ts';

type Endpoint = Pick<LdapSettings, 'host' | 'port' | 'security' | 'authorities' | 'timeoutMs'>;

const START_TLS = '1.3.6.1.4.1.1466.20037';

/**
 * Waits for a socket to connect. The next user of the socket handles later errors; until then they must not be fatal.
 */
function opened<S extends Socket>(socket: S, event: 'connect' | 'secureConnect'): Promise<S> {
  socket.on('error', () => {});
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(new WordedError(sentence('the directory closed the connection'))));
  });
}

/** Creates a client on an open socket; it never reconnects by itself. */
function clientOn(socket: Socket, timeoutMs: number): Client {
  return new Client({
    url: 'ldap://directory',
    timeout: timeoutMs,
    connectTimeout: timeoutMs,
    createConnection: () => {
      if (socket.destroyed) throw new WordedError(sentence('the connection to the directory is gone'));
      return socket;
    },
  });
}

/**
 * Starts TLS (RFC 4511 section 4.14). The client that requested it reads nothing more: bytes that an attacker injected
 * after the response would otherwise count as protected.
 */
async function startTls(plain: Socket, options: ConnectionOptions, timeoutMs: number): Promise<Socket> {
  await clientOn(plain, timeoutMs).exop(START_TLS);
  plain.removeAllListeners('data');
  return opened(connectTls({ ...options, socket: plain }), 'secureConnect');
}

async function connect(endpoint: Endpoint): Promise<Socket> {
  const { host, port, security, authorities, timeoutMs } = endpoint;
  // `host` is checked against the certificate, also when a socket is given.
  const options: ConnectionOptions = {
    host,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(authorities === null ? {} : { ca: authorities }),
  };
  const socket = security === 'tls' ? connectTls(options) : connectPlain({ host, port });
  const patience = setTimeout(
    () => socket.destroy(new WordedError(sentence('no connection within {time} ms', { time: timeoutMs }))),
    timeoutMs,
  );
  try {
    if (security === 'tls') return await opened(socket, 'secureConnect');
    await opened(socket, 'connect');
    return security === 'starttls' ? await startTls(socket, options, timeoutMs) : socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(patience);
  }
}

/**
 * Runs `ask` on a new connection, which is closed afterwards. Throws when the directory cannot be reached, its
 * certificate does not match, or the whole exchange exceeds the timeout.
 */
export async function overConnection<T>(endpoint: Endpoint, ask: (client: Client) => Promise<T>): Promise<T> {
  const socket = await connect(endpoint);
  const { timeoutMs } = endpoint;
  const client = clientOn(socket, timeoutMs);
  const patience = setTimeout(
    () => socket.destroy(new WordedError(sentence('no answer within {time} ms', { time: timeoutMs }))),
    timeoutMs,
  );
  try {
    return await ask(client);
  } finally {
    // The result is valid even if closing the connection fails.
    await client.unbind().catch(() => {});
    socket.destroy();
    clearTimeout(patience);
  }
}
