import type { FastifyInstance, HTTPMethods } from 'fastify';
import { refuse } from './refuse.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** A path in the router's syntax, and the methods that it serves. */
export interface ServedPath {
  url: string;
  methods: readonly HTTPMethods[];
}

function allowedOf({ methods }: ServedPath): HTTPMethods[] {
  return METHODS.filter(
    (method) => methods.includes(method) || (method === 'HEAD' && methods.includes('GET')),
  );
}

const notAllowed = (allowed: readonly HTTPMethods[]) =>
  refuse('method-not-allowed', {}, { allow: allowed.join(', ') });

/** Refuses these methods of a path in a route of their own. */
function refuseIn(server: FastifyInstance, path: ServedPath, methods: HTTPMethods[]): void {
  server.route({
    method: methods,
    url: path.url,
    exposeHeadRoute: false,
    // Before the body is parsed: the method alone is the error.
    onRequest: async () => {
      throw notAllowed(allowedOf(path));
    },
    handler: async () => {},
  });
}

/** HTTP-16: a wrong method on a known path is 405 with the allowed methods. */
export function refuseMethods(server: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  const path = { url, methods };
  const allowed = allowedOf(path);
  refuseIn(
    server,
    path,
    METHODS.filter((method) => !allowed.includes(method)),
  );
}

const segmentsOf = (url: string) => url.split('/');

/** Whether every request for a path of these segments also matches the pattern, which has as many. */
const isWithin = (segments: readonly string[], pattern: readonly string[]) =>
  pattern.every((segment, at) => segment === segments[at] || segment.startsWith(':'));

/**
 * Refuses all other methods of these paths (HTTP-16). Only methods that the router would pass to another path, which has
 * a parameter there, get a route: one for each method of each path takes a third of the time that a service needs to
 * open. Requests with any other wrong method match no route, so their path is looked up.
 */
export function refuseOtherMethods(server: FastifyInstance, paths: readonly ServedPath[]): void {
  const known = paths.map((path) => ({ ...path, segments: segmentsOf(path.url), allowed: allowedOf(path) }));
  const byLength = Map.groupBy(known, ({ segments }) => segments.length);
  for (const alike of byLength.values()) {
    for (const path of alike) {
      const wider = alike.filter((other) => other !== path && isWithin(path.segments, other.segments));
      const taken = METHODS.filter(
        (method) => !path.allowed.includes(method) && wider.some(({ allowed }) => allowed.includes(method)),
      );
      if (taken.length > 0) refuseIn(server, path, taken);
    }
  }
  const find = (address: string) => {
    const segments = segmentsOf((address.split('?')[0] ?? '').replace(/\/$/, ''));
    const matching = byLength.get(segments.length)?.filter((path) => isWithin(segments, path.segments));
    // Names come before parameters, as in the router.
    return matching?.find((path) => matching.every((other) => isWithin(path.segments, other.segments)));
  };
  server.addHook('onRequest', async (request) => {
    // The route of the web app's pages and files takes all GET requests that no other route takes.
    if (!request.is404 && request.routeOptions.url !== '/*') return;
    const path = find(request.url);
    if (path !== undefined) throw notAllowed(path.allowed);
  });
}
