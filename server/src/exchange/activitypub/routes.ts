import type { Federation } from '@fedify/fedify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { profilePath } from '../../content/public/page.ts';
import type { Budgets } from '../../core/budgets.ts';
import type { Deps } from '../../core/deps.ts';
import { DatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { clientAddress } from '../../platform/http/client-address.ts';
import { refuseMethods } from '../../platform/http/methods.ts';
import { prefersDocument } from '../../platform/http/prefers-document.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { Rejection } from '../federation/protocol/rejection.ts';
import { parseStrict } from '../federation/protocol/strict-json.ts';
import { findActor } from './actors.ts';
import { parseActor, parseNote } from './addresses.ts';
import { keepSufficientSignatures } from './coverage.ts';
import type { Processing } from './inbox.ts';
import { type ActivityPubSite, readActivityPub } from './site.ts';

/** The largest activity, in bytes. */
const MOST_BYTES = 256 * 1024;

/** The headers that the protocol library needs; no others are passed on. */
const passedOn = [
  'content-type',
  'date',
  'digest',
  'content-digest',
  'signature',
  'signature-input',
  'user-agent',
  'content-length',
] as const;

/**
 * Returns whether a request is answered with JSON where there is a page, too. Without a preference, it is, except for
 * unsigned requests for notes: the previews of links send those (AP-18).
 */
function wantsDocument({ pathname }: URL, { headers }: FastifyRequest): boolean {
  const isNote = /^\/ap\/users\/[^/]+\/posts\//.test(pathname);
  const isSigned = headers.signature !== undefined;
  return prefersDocument(headers, !isNote || isSigned);
}

function toRequest({ url }: ActivityPubSite, request: FastifyRequest): Request {
  const address = new URL(`${url}${request.url}`);
  // The protocol library does not count wildcards as JSON.
  const accept = wantsDocument(address, request) ? 'application/activity+json' : 'text/html';
  const headers = new Headers({ accept });
  for (const name of passedOn) {
    const value = request.headers[name];
    if (value !== undefined) headers.set(name, [value].flat().join(', '));
  }
  const { method } = request;
  // Signatures are made for the public address, whatever a proxy turns it into.
  headers.set('host', address.host);
  const body = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null;
  if (
    method === 'POST' &&
    !keepSufficientSignatures(headers, { method, url: address, body, now: Date.now() })
  )
    throw refuse('signature-insufficient');
  return new Request(address, { method, headers, ...(method === 'POST' && { body }) });
}

async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  // The protocol library returns 500 for activities it could not process, even if they are invalid.
  reply.code(response.status === 500 ? 400 : response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  reply.header('cache-control', 'no-cache');
  return reply.send(Buffer.from(await response.arrayBuffer()));
}

/**
 * Mounts the endpoints of ActivityPub, which return 404 unless it is enabled (AP-1). Its addresses lie below
 * `/ap`, besides the well-known ones, and outside the base path.
 */
export async function serveActivityPub(server: FastifyInstance, deps: Deps, budgets: Budgets): Promise<void> {
  let engine: { site: ActivityPubSite; federation: Federation<Processing> } | null = null;
  const engineOf = async (site: ActivityPubSite): Promise<Federation<Processing>> => {
    if (engine?.site.url !== site.url || engine.site.name !== site.name) {
      const { openEngine } = await import('./engine.ts');
      engine = { site, federation: openEngine(deps, site) };
    }
    return engine.federation;
  };

  /** Browsers are redirected to the page. */
  const pageOf = async (site: ActivityPubSite, address: string): Promise<Response> => {
    const uri = address.split('?')[0] ?? '';
    const note = parseNote(site.url, uri);
    const actorId = parseActor(site.url, uri);
    const actor = actorId === null ? null : await findActor(deps.db, actorId);
    const path =
      note !== null ? `/posts/${note.postId}` : actor === null ? null : profilePath(actor.username);
    if (path === null) return new Response('', { status: 406 });
    return new Response(null, { status: 302, headers: { location: path, vary: 'Accept' } });
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    await budgets.spendOnEntry({}, clientAddress(request), null);
    const { site } = await readActivityPub(deps.db, deps.config);
    if (site === null) throw notFound();
    if (request.method === 'POST') {
      try {
        parseStrict(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
      } catch (error) {
        if (error instanceof Rejection)
          throw refuse('activity-malformed', { reason: sentenceOfError(error) });
        throw error;
      }
    }
    const federation = await engineOf(site);
    const passed = toRequest(site, request);
    const processing: Processing = { unavailable: null };
    try {
      const response = await federation.fetch(passed, {
        contextData: processing,
        onNotAcceptable: () => pageOf(site, passed.url),
      });
      if (processing.unavailable !== null) throw processing.unavailable;
      return await sendResponse(reply, response);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || request.method !== 'POST') throw error;
      deps.log.debug({ err: error }, 'an activity could not be read');
      throw refuse('activity-not-processed');
    }
  };

  for (const path of [
    '/.well-known/webfinger',
    '/.well-known/nodeinfo',
    '/ap/nodeinfo/2.1',
    '/ap/users/:id',
    '/ap/users/:id/outbox',
    '/ap/users/:id/followers',
    '/ap/users/:id/posts/:post',
  ]) {
    server.get(path, answer);
    refuseMethods(server, path, ['GET']);
  }
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      ['application/activity+json', 'application/ld+json', 'application/json'],
      { parseAs: 'buffer', bodyLimit: MOST_BYTES },
      (_, body, done) => done(null, body),
    );
    for (const path of ['/ap/inbox', '/ap/users/:id/inbox']) scope.post(path, answer);
  });
  for (const path of ['/ap/inbox', '/ap/users/:id/inbox']) refuseMethods(server, path, ['POST']);
}
