import type { FastifyInstance, HTTPMethods } from 'fastify';
import { refuse } from './refuse.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** A wrong method on a known path is 405 with the ones that would do (HTTP-16). */
export function refuseMethods(server: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  const allowed = METHODS.filter(
    (method) => methods.includes(method) || (method === 'HEAD' && methods.includes('GET')),
  );
  server.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    // Before a look at the body: the method alone is the fault.
    onRequest: async () => {
      throw refuse(405, 'method not allowed', { allow: allowed.join(', ') });
    },
    handler: async () => {},
  });
}
