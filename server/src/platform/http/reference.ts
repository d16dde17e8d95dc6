import { openApiDocument } from '@vitrine/contract/openapi';
import { basePath } from '@vitrine/contract/operations';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { refuseMethods } from './methods.ts';
import { type PreparedBytes, prepareBytes, sendPrepared } from './prepared-bytes.ts';
import { notFound } from './refuse.ts';
import { referencePolicy } from './security-headers.ts';

const description = `${basePath}/openapi.json`;
const readingRoom = `${basePath}/docs`;
const script = 'js/scalar.js';

/** Both change with the version of Vitrine, which their addresses do not name. */
const revalidated = 'public, no-cache';

interface Reference {
  page: PreparedBytes;
  policy: string;
  script: PreparedBytes;
}

/** Reads the page and its script from their library, which builds both in memory for every request. */
async function prepareReference(): Promise<Reference> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const room = fastify();
  await room.register(reference, {
    routePrefix: readingRoom,
    configuration: {
      url: description,
      pageTitle: 'API reference · Vitrine',
      withDefaultFonts: false,
      hideClientButton: true,
      // Each would send the description, or requests, to a service of the library's makers.
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
    },
  });
  const read = async (path: string) => {
    const { statusCode, headers, rawPayload } = await room.inject({ url: `${readingRoom}/${path}` });
    if (statusCode !== 200) throw new Error(`the API reference has no ${path}`);
    return prepareBytes(String(headers['content-type']), rawPayload);
  };
  const page = await read('');
  const prepared = { page, policy: referencePolicy(page.plain.toString()), script: await read(script) };
  await room.close();
  return prepared;
}

/** Returns a function that prepares its result on the first call, for all callers; a failure is not kept. */
function once<T>(prepare: () => Promise<T>): () => Promise<T> {
  let prepared: Promise<T> | undefined;
  return () => {
    prepared ??= prepare().catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };
}

/** Count a request against the budget of its address; they throw when it is spent. */
export interface ReferenceBudgets {
  countRequest(request: FastifyRequest): Promise<void>;
  countFile(request: FastifyRequest): Promise<void>;
}

/**
 * Serves the API description and a page to read it (HTTP-32). Both are built on the first request and kept in all
 * encodings, so that any number of requests share the same memory (HTTP-42).
 */
export function serveReference(
  server: FastifyInstance,
  version: string,
  { countRequest, countFile }: ReferenceBudgets,
): void {
  const readDescription = once(() =>
    prepareBytes('application/json; charset=utf-8', Buffer.from(JSON.stringify(openApiDocument(version)))),
  );
  const readReference = once(prepareReference);
  server.get(description, async (request, reply) => {
    await countRequest(request);
    return sendPrepared(request, reply, await readDescription(), revalidated);
  });
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const { page, policy } = await readReference();
    reply.header('content-security-policy', policy);
    return sendPrepared(request, reply, page, revalidated);
  };
  server.get(readingRoom, async (request, reply) => {
    await countFile(request);
    // The page names its script relative to the directory.
    if (!request.url.split('?')[0]?.endsWith('/')) return reply.redirect(`${readingRoom}/`, 301);
    return sendPage(request, reply);
  });
  server.get<{ Params: { '*': string } }>(`${readingRoom}/*`, async (request, reply) => {
    await countFile(request);
    const path = request.params['*'];
    if (path === '') return sendPage(request, reply);
    if (path !== script) throw notFound();
    return sendPrepared(request, reply, (await readReference()).script, revalidated);
  });
  for (const path of [description, readingRoom]) refuseMethods(server, path, ['GET']);
}
