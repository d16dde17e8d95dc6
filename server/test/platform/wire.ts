import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { type Answered, holdAnswer } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';

/** Returns the message of a refusal, after checking its shape (HTTP-1). */
export function errorOf(answer: Answered): string {
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body: unknown = JSON.parse(answer.text);
  expect(body).toEqual({ error: expect.stringMatching(/\S/) });
  return String(JSON.parse(answer.text).error);
}

/** Sends a request of an account byte by byte as given, which fetch would normalise. */
export function raw(
  library: Library,
  account: Account,
  path: string,
  init: { method?: string; headers?: Record<string, string>; chunks?: string[] } = {},
) {
  const { method = 'GET', headers = {}, chunks = [] } = init;
  return new Promise<Answered>((resolve, reject) => {
    const { hostname, port } = new URL(library.address);
    const sent = httpRequest({
      host: hostname,
      port,
      path,
      method,
      headers: { ...sessionOf(account), ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const received = new Headers();
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
        const status = response.statusCode ?? 0;
        const text = Buffer.concat(parts).toString();
        holdAnswer(method, library.address + path, { status, headers: received, text });
        resolve({ status, headers: received, text });
      });
    });
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

export const asJson = { 'content-type': 'application/json' };
export const boundary = 'part-of-the-form';
export const asForm = { 'content-type': `multipart/form-data; boundary=${boundary}` };
/** The head of a part that is a file, and the end of its form. */
export const partHead = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`;
export const formEnd = `\r\n--${boundary}--\r\n`;

export const sessionOf = (account: Pick<Account, 'cookie'>) => ({ cookie: `user=${account.cookie()}` });

/** A connection on which a request is sent in pieces. */
export interface Wire {
  /** Resolves when the piece has been passed to the system, or can no longer be. */
  send(piece: string | Uint8Array): Promise<void>;
  /** Everything received until the server closed the connection. */
  ended: Promise<Answered>;
  isOver(): boolean;
  close(): void;
}

function parseAnswer(text: string): Answered {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers();
  for (const line of lines)
    headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1));
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, text: rest.join('\r\n\r\n') };
}

/**
 * Opens a connection to the library; status 0 means that it ended without a response. A `stubborn` client keeps its side
 * open after the server has closed the other.
 */
export async function openWire({ address }: Pick<Library, 'address'>, stubborn = false): Promise<Wire> {
  const { hostname, port } = new URL(address);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: stubborn });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  let isOver = false;
  const ended = new Promise<Answered>((resolve) => {
    // A reset ends the connection as well, after the bytes received before.
    socket.on('error', () => {});
    const end = () => {
      isOver = true;
      resolve(parseAnswer(Buffer.concat(received).toString('latin1')));
    };
    socket.on('end', end);
    socket.on('close', end);
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  const send = (piece: string | Uint8Array) =>
    new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  return { send, ended, isOver: () => isOver, close: () => socket.destroy() };
}

/** Returns the head of a request whose body has `length` bytes. */
export function headOf(
  method: string,
  path: string,
  length: number,
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({ host: 'localhost', 'content-length': String(length), ...headers });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
