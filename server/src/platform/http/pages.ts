import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import { openApiDocument } from '@vitrine/contract/openapi';
import { basePath } from '@vitrine/contract/operations';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { refuseMethods } from './methods.ts';
import { refuse } from './refuse.ts';
import { pagePolicy, referencePolicy, unlistedHeaders } from './security-headers.ts';

const description = `${basePath}/openapi.json`;
const readingRoom = `${basePath}/docs`;

/** The page to read the description on. It has a server of its own, for its library is large and few read it. */
async function openReadingRoom(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const room = fastify();
  await room.register(reference, {
    routePrefix: readingRoom,
    configuration: { url: description, withDefaultFonts: false, hideClientButton: true },
  });
  return room;
}

/** The interface description, and a page to read it on (HTTP-32). Both are made for the first who asks. */
export function serveReference(server: FastifyInstance, version: string): void {
  let document: Record<string, unknown> | undefined;
  server.get(description, async () => {
    document ??= openApiDocument(version);
    return document;
  });
  refuseMethods(server, description, ['GET']);
  let room: Promise<FastifyInstance> | undefined;
  const read = async ({ url }: FastifyRequest, reply: FastifyReply) => {
    room ??= openReadingRoom();
    const { statusCode, headers, rawPayload } = await (await room).inject({ url });
    if (headers['content-type']?.toString().startsWith('text/html') === true)
      reply.header('content-security-policy', referencePolicy(rawPayload.toString()));
    for (const name of ['content-type', 'location']) {
      if (headers[name] !== undefined) reply.header(name, headers[name]);
    }
    return reply.code(statusCode).send(rawPayload.length === 0 ? undefined : rawPayload);
  };
  server.get(readingRoom, read);
  server.get(`${readingRoom}/*`, read);
  refuseMethods(server, readingRoom, ['GET']);
}

/** The files of the web app by their path; none that begins with a dot. */
function filesIn(root: string): ReadonlySet<string> {
  const files = readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep));
  return new Set(
    files.filter((parts) => !parts.some((part) => part.startsWith('.'))).map((parts) => parts.join('/')),
  );
}

/** The page and its policy as they are on the disk: both change when the web app is built while the server runs. */
function pageReader(page: string): () => { html: string; policy: string } {
  const read = (modifiedAt: number) => {
    const html = readFileSync(page, 'utf8');
    return { modifiedAt, html, policy: pagePolicy(html) };
  };
  let known = read(statSync(page).mtimeMs);
  return () => {
    // The page is not there for the moment in which a new build takes its place.
    const modifiedAt = statSync(page, { throwIfNoEntry: false })?.mtimeMs ?? known.modifiedAt;
    if (modifiedAt !== known.modifiedAt) known = read(modifiedAt);
    return known;
  };
}

/** What the head of a page says about it before any script runs. */
export interface PageHead {
  /** Elements with a `title` among them. */
  html: string;
  /** Whether search engines may list the page. */
  isIndexed: boolean;
}

/** The head of the page that a request asks for; null for the head that all other pages have. */
export type HeadOf = (request: FastifyRequest) => Promise<PageHead | null>;

/** The page with its own head in place of the general title, and without the ban on search engines if it is indexed. */
function withHead(page: string, { html, isIndexed }: PageHead): string {
  const titled = page.replace(/<title>[^<]*<\/title>/, () => html);
  return isIndexed ? titled.replace(/<meta name="robots"[^>]*>/, '') : titled;
}

/** Where files lie whose names tell their content. */
const hashed = /^_app\/immutable\/\w+\/\w[\w.-]*$/;

/**
 * The web app: hashed files for good, the page itself never without asking again. Any path that is no file and
 * not the API's is the app's own and gets the page, with the head that `headOf` has for it. One route for all files:
 * hundreds would hold up the start.
 * `unlisted` says whose address is itself a secret: search engines and the `Referer` header do not get it.
 */
export async function servePages(
  server: FastifyInstance,
  root: string,
  headOf: HeadOf = async () => null,
  unlisted: (path: string) => boolean = () => false,
): Promise<void> {
  const built = existsSync(join(root, 'index.html'));
  const readPage = built ? pageReader(join(root, 'index.html')) : null;
  if (readPage !== null) {
    await server.register(fastifyStatic, {
      root,
      serve: false,
      cacheControl: false,
      preCompressed: true,
      setHeaders: (reply, path) => {
        const isHashed = path.includes(`${join('_app', 'immutable')}`);
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
        reply.header('content-security-policy', readPage().policy);
      },
    });
    const files = filesIn(root);
    server.get<{ Params: { '*': string } }>('/*', async ({ params }, reply) => {
      const file = params['*'];
      // Pages that were built while the server runs have files that it did not find when it started.
      const isThere = files.has(file) || (hashed.test(file) && existsSync(join(root, file)));
      return isThere ? reply.sendFile(file) : reply.callNotFound();
    });
  }
  server.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const isPage = (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/api/');
    if (!isPage || readPage === null || /\.\w{1,8}$/.test(path)) throw refuse(404, 'not found');
    const head = await headOf(request);
    if (head !== null) {
      const { html, policy } = readPage();
      // Set from the start for every answer (security-headers.ts).
      if (head.isIndexed) reply.raw.removeHeader('x-robots-tag');
      reply
        .header('cache-control', 'no-cache')
        .header('vary', 'Cookie')
        .header('content-security-policy', policy);
      return reply.type('text/html; charset=utf-8').send(withHead(html, head));
    }
    if (unlisted(path)) reply.headers(unlistedHeaders);
    return reply.sendFile('index.html');
  });
}
