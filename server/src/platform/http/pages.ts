import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { openApiDocument } from '@vitrine/contract/openapi';
import { basePath } from '@vitrine/contract/operations';
import type { FastifyInstance } from 'fastify';
import { refuseMethods } from './methods.ts';
import { refuse } from './refuse.ts';

/** The interface description, and a page to read it on (choices, general). */
export async function serveReference(server: FastifyInstance, version: string): Promise<void> {
  const document = openApiDocument(version);
  server.get(`${basePath}/openapi.json`, async () => document);
  refuseMethods(server, `${basePath}/openapi.json`, ['GET']);
  const { default: reference } = await import('@scalar/fastify-api-reference');
  await server.register(reference, {
    routePrefix: `${basePath}/docs`,
    configuration: { url: `${basePath}/openapi.json`, withDefaultFonts: false, hideClientButton: true },
  });
  refuseMethods(server, `${basePath}/docs`, ['GET']);
}

/** Where files lie whose names tell their content. */
const hashed = /^\/_app\/immutable\/\w+\/\w[\w.-]*$/;

/**
 * The web app: hashed files for good, the page itself never without asking again. Any path that is no file and
 * not the API's is the app's own and gets the page.
 */
export async function servePages(server: FastifyInstance, root: string): Promise<void> {
  const built = existsSync(join(root, 'index.html'));
  if (built) {
    await server.register(fastifyStatic, {
      root,
      wildcard: false,
      index: false,
      cacheControl: false,
      preCompressed: true,
      setHeaders: (reply, path) => {
        const isHashed = path.includes(`${join('_app', 'immutable')}`);
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  }
  server.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const isPage = (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/api/');
    // Pages that were built while the server runs have files that it did not find when it started.
    if (isPage && built && hashed.test(path) && existsSync(join(root, path)))
      return reply.sendFile(path.slice(1));
    if (!isPage || !built || /\.\w{1,8}$/.test(path)) throw refuse(404, 'not found');
    return reply.sendFile('index.html');
  });
}
