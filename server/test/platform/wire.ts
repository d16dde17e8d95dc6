import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';
import type { Answered } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';

/** What a refusal says, once it has the shape of one (spec part 7). */
export function errorOf(answer: Answered): string {
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body: unknown = JSON.parse(answer.text);
  expect(body).toEqual({ error: expect.stringMatching(/\S/) });
  return String(JSON.parse(answer.text).error);
}

/** A request of an account as it stands on the wire, where fetch would tidy it up. */
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
      headers: { cookie: `user=${account.cookie()}`, ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const received = new Headers();
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
        resolve({
          status: response.statusCode ?? 0,
          headers: received,
          text: Buffer.concat(parts).toString(),
        });
      });
    });
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}
