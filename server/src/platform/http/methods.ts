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
  refuse(405, 'method not allowed', { allow: allowed.join(', ') });

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

/** A served path, and its segments. */
interface Known extends ServedPath {
  segments: readonly string[];
}

const segmentsOf = (url: string) => url.split('/');
const isParameter = (segment: string) => segment.startsWith(':');

/** Whether this path has a name, or the same parameter, wherever the other one of the same length has a name. */
const isWithin = (one: Known, other: Known) =>
  other.segments.every((segment, at) => segment === one.segments[at] || isParameter(segment));

/**
 * The same for many paths. Only methods that the router would pass to another path, which has a parameter there, get
 * routes: a route for each method of each path would take half of the time in which a service sets up its routes. All
 * other requests are unknown to the router.
 */
export function refuseOtherMethods(server: FastifyInstance, paths: readonly ServedPath[]): void {
  const known = paths.map((path): Known => ({ ...path, segments: segmentsOf(path.url) }));
  const byLength = Map.groupBy(known, ({ segments }) => segments.length);
  for (const alike of byLength.values()) {
    for (const path of alike) {
      const allowed = allowedOf(path);
      const others = alike.filter((other) => other !== path && isWithin(path, other)).flatMap(allowedOf);
      const taken = METHODS.filter((method) => !allowed.includes(method) && others.includes(method));
      if (taken.length > 0) refuseIn(server, path, taken);
    }
  }
  const find = (address: string): Known | undefined => {
    const segments = segmentsOf((address.split('?')[0] ?? '').replace(/\/$/, ''));
    const requested = { url: '', methods: [], segments };
    const matching = byLength.get(segments.length)?.filter((path) => isWithin(requested, path));
    // Names come before parameters, as in the router.
    return matching?.find((path) => matching.every((other) => isWithin(path, other)));
  };
  server.addHook('onRequest', async (request) => {
    // A route for the pages of the web app takes all other GET requests.
    if (!request.is404 && request.routeOptions.url !== '/*') return;
    const path = find(request.url);
    if (path !== undefined) throw notAllowed(allowedOf(path));
  });
}
