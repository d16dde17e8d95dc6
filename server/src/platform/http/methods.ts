import type { FastifyInstance, HTTPMethods } from 'fastify';
import { refuse } from './refuse.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** HTTP-16: a wrong method on a known path is 405 with the allowed methods. */
export function refuseMethods(server: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  const allowed = METHODS.filter(
    (method) => methods.includes(method) || (method === 'HEAD' && methods.includes('GET')),
  );
  server.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    // Before the body is parsed: the method alone is the error.
    onRequest: async () => {
      throw refuse(405, 'method not allowed', { allow: allowed.join(', ') });
    },
    handler: async () => {},
  });
}
