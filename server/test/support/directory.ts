import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import ldapjs from 'ldapjs';
import { listen } from './listen.ts';

/** A key and a self-signed certificate in PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

/** Creates a certificate for these names (`DNS:localhost`, `IP:127.0.0.1`) with openssl. */
export async function makeCertificate(names: readonly string[]): Promise<Certificate> {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-certificate-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  try {
    const subject = ['-subj', '/CN=test directory', '-addext', `subjectAltName=${names.join(',')}`];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const kind = ['-x509', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    await promisify(execFile)('openssl', ['req', ...kind, ...curve, ...subject]);
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  } finally {
    await rm(directory, { recursive: true });
  }
}

export interface DirectoryEntry {
  /** If empty, the entry is found by every search and sent without a name. */
  dn: string;
  attributes: Record<string, string[] | Buffer[]>;
  /** Null if binding as this entry is impossible. */
  password: string | null;
}

/** An LDAP server over TCP with a tree that tests change. */
export interface Directory {
  port: number;
  entries: DirectoryEntry[];
  /** All operations received, in order: `bind <dn>`, `search <filter>`, `starttls`, `unbind`. */
  asked: string[];
  /** The number of open connections. */
  connections(): number;
  /** Accepts connections but sends no responses. */
  fallSilent(): void;
  /** Delays each response by this time. */
  slowDown(ms: number): void;
  close(): Promise<void>;
}

export interface DirectoryOptions {
  base: string;
  entries: DirectoryEntry[];
  /** The only DN that may search; without it, all may. */
  searcher?: string;
  security?: 'none' | 'starttls' | 'tls';
  certificate?: Certificate;
  /** Sends at most this many entries, then `sizeLimitExceeded`. */
  sizeLimit?: number;
  /** Bytes that an attacker on the network appends to the response to StartTLS. */
  afterStartTls?: Buffer;
}

/** The arguments of ldapjs's handlers, which its published types lack. */
interface Name {
  toString(): string;
}
interface Filter {
  type: string;
  attribute?: string;
  value?: string;
  clauses?: Filter[];
  filter?: Filter;
  subInitial?: string;
  subAny?: string[];
  subFinal?: string;
  toString(): string;
}
interface Connection extends Socket {
  ldap: { bindDN: Name };
}
interface Request {
  dn: Name;
  name: Name;
  credentials: string;
  filter: Filter;
  sizeLimit: number;
  baseObject: Name;
  attributes: string[];
  connection: Connection;
}
interface Response {
  errorMessage: string;
  createSearchEntry(entry: { objectName: string; attributes: ldapjs.Attribute[] }): ldapjs.SearchEntry;
  send(entry: ldapjs.SearchEntry): void;
  end(status?: number): void;
}
type Next = (error?: Error) => void;

declare module 'ldapjs' {
  interface Server {
    newConnection(socket: Socket): void;
  }
}

const status = { success: 0, sizeLimitExceeded: 4, invalidCredentials: 49, insufficientAccess: 50 };

/** Returns a DN in normal form. */
function folded(dn: string): string {
  return dn.toLowerCase().replace(/\s*,\s*/g, ',');
}

/** caseIgnoreMatch (RFC 4517) with the part of RFC 4518's string preparation that these tests need. */
function prepared(value: string): string {
  return value.normalize('NFKC').replace(/\p{C}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Decodes the escapes of RFC 4515 in a filter's value, which ldapjs does not. */
function unescaped(text: string): string {
  return text.replace(/(?:\\[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('\\', ''), 'hex').toString(),
  );
}

function matches(filter: Filter, entry: DirectoryEntry): boolean {
  const name = Object.keys(entry.attributes).find(
    (key) => key.toLowerCase() === filter.attribute?.toLowerCase(),
  );
  const values = (name === undefined ? [] : (entry.attributes[name] ?? [])).map((value) =>
    prepared(String(value)),
  );
  switch (filter.type) {
    case 'AndFilter':
      return (filter.clauses ?? []).every((clause) => matches(clause, entry));
    case 'OrFilter':
      return (filter.clauses ?? []).some((clause) => matches(clause, entry));
    case 'NotFilter':
      return filter.filter !== undefined && !matches(filter.filter, entry);
    case 'PresenceFilter':
      return values.length > 0;
    case 'EqualityFilter':
      return values.includes(prepared(unescaped(filter.value ?? '')));
    case 'SubstringFilter': {
      const parts = [filter.subInitial ?? '', ...(filter.subAny ?? []), filter.subFinal ?? ''];
      const pattern = parts.map((part) => RegExp.escape(prepared(unescaped(part)))).join('.*');
      return values.some((value) => new RegExp(`^${pattern}$`, 'su').test(value));
    }
    default:
      throw new Error(`no filter of the type ${filter.type} here`);
  }
}

/** Opens a directory on a free port of 127.0.0.1. */
export async function openDirectory(options: DirectoryOptions): Promise<Directory> {
  const { base, certificate, security = 'none' } = options;
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  let silent = false;
  let delay = 0;
  const ldap = ldapjs.createServer();
  // Clients may disconnect at any time.
  ldap.on('error', () => {});

  const answering = (work: (request: Request, response: Response) => void) => {
    return async (request: Request, response: Response, next: Next) => {
      if (delay > 0) await sleep(delay);
      if (silent || request.connection.destroyed) return;
      work(request, response);
      next();
    };
  };

  ldap.bind(
    '',
    answering((request, response) => {
      const dn = folded(request.dn.toString());
      asked.push(`bind ${dn}`);
      const entry = directory.entries.find((candidate) => folded(candidate.dn) === dn);
      // Like servers in C, whose strings end at the first NUL.
      const [password = ''] = request.credentials.split('\0');
      // RFC 4513 section 5.1.2: a name without a password is an unauthenticated bind, and succeeds.
      const accepted = password === '' || (entry !== undefined && entry.password === password);
      response.end(accepted ? status.success : status.invalidCredentials);
    }),
  );

  ldap.search(
    base,
    answering((request, response) => {
      asked.push(`search ${request.filter.toString()}`);
      const who = folded(request.connection.ldap.bindDN.toString());
      if (options.searcher !== undefined && who !== folded(options.searcher)) {
        response.end(status.insufficientAccess);
        return;
      }
      const below = `,${folded(request.dn.toString())}`;
      const found = directory.entries.filter(
        (entry) =>
          (entry.dn === '' || `,${folded(entry.dn)}`.endsWith(below)) && matches(request.filter, entry),
      );
      const limit = Math.min(request.sizeLimit || Infinity, options.sizeLimit ?? Infinity);
      for (const { dn, attributes } of found.slice(0, limit)) {
        const wanted = Object.entries(attributes).filter(([type]) =>
          request.attributes.some((name) => name.toLowerCase() === type.toLowerCase()),
        );
        const sent = wanted.map(([type, values]) => new ldapjs.Attribute({ type, values }));
        response.send(response.createSearchEntry({ objectName: dn, attributes: sent }));
      }
      response.end(found.length > limit ? status.sizeLimitExceeded : status.success);
    }),
  );

  ldap.unbind((request: Request, response: Response, next: Next) => {
    asked.push('unbind');
    response.end();
    request.connection.destroy();
    next();
  });

  if (security === 'starttls') {
    ldap.exop(
      '1.3.6.1.4.1.1466.20037',
      answering(({ connection }, response) => {
        asked.push('starttls');
        connection.cork();
        response.end(status.success);
        if (options.afterStartTls !== undefined) connection.write(options.afterStartTls);
        connection.uncork();
        connection.removeAllListeners('data');
        const secured = new TLSSocket(connection, { isServer: true, ...certificate });
        secured.on('error', () => {});
        ldap.newConnection(secured);
      }),
    );
  }

  const admit = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    if (silent) socket.resume();
    else ldap.newConnection(socket);
  };
  const server: Server =
    security === 'tls' ? createTlsServer({ ...certificate }, admit) : createPlainServer(admit);

  const directory: Directory = {
    port: await listen(server),
    entries: options.entries,
    asked,
    connections: () => sockets.size,
    fallSilent: () => {
      silent = true;
    },
    slowDown: (ms) => {
      delay = ms;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return directory;
}
