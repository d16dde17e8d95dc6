import { createHash } from 'node:crypto';
import { pageKindOf } from '@vitrine/contract/page-kinds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Budgets } from '../../core/budgets.ts';
import type { Deps } from '../../core/deps.ts';
import { clientAddress } from '../../platform/http/client-address.ts';
import { hasCurrent } from '../../platform/http/etag.ts';
import { refuseMethods } from '../../platform/http/methods.ts';
import { pageLanguage } from '../../platform/http/page-language.ts';
import type { HeadOf } from '../../platform/http/pages.ts';
import { Refusal, refuse } from '../../platform/http/refuse.ts';
import { writeFeed } from './atom.ts';
import { renderHead, renderLinkHead } from './head.ts';
import { embed } from './oembed.ts';
import { describePage, mayBePublicPage } from './page.ts';
import { type PublicSite, readPublicSite } from './site.ts';
import { ENTRIES, openSitemaps } from './sitemap.ts';

type Parts = Pick<Deps, 'db' | 'config' | 'log'>;

/**
 * Returns the configured public address. Without one, it is that of this machine, as in the request, and otherwise
 * empty: addresses are then relative, because anyone can send any host (PUBLIC-9).
 */
function baseOf(site: PublicSite, request: FastifyRequest): string {
  if (site.baseUrl !== null) return site.baseUrl;
  const isHere = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(request.hostname);
  return isHere ? `${request.protocol}://${request.host}` : '';
}

/**
 * Sends a text that caches may store but must revalidate before each use, because public mode can end at any moment.
 */
function sendChecked(request: FastifyRequest, reply: FastifyReply, type: string, text: string): FastifyReply {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  // Weak, because the text may be sent compressed.
  reply
    .header('etag', `W/${etag}`)
    .header('cache-control', 'no-cache')
    .header('vary', 'Host, Accept-Language, Cookie');
  if (hasCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type(type).send(text);
}

function lastOf(value: unknown): string | undefined {
  const last: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof last === 'string' ? last : undefined;
}

/**
 * Serves `/robots.txt`, `/sitemap.xml`, `/oembed` and the Atom feeds for other sites and programs. Every caller
 * receives what a visitor would. While public mode is off, all paths but `/robots.txt` return 401. Requests spend the
 * same budgets as other visitor requests. `entries` is the number of addresses in one sitemap.
 */
export function servePublicFiles(
  server: FastifyInstance,
  { db, config }: Parts,
  budgets: Budgets,
  entries = ENTRIES,
): void {
  const enter = async (request: FastifyRequest): Promise<{ site: PublicSite; base: string }> => {
    await budgets.spendOnEntry({}, clientAddress(request), null);
    const site = await readPublicSite(db, config);
    if (!site.publicMode) throw refuse('sign-in-required');
    return { site, base: baseOf(site, request) };
  };
  const sitemaps = openSitemaps(db, entries);
  server.get('/robots.txt', async (request, reply) => {
    await budgets.spendOnEntry({}, clientAddress(request), null);
    const site = await readPublicSite(db, config);
    const lines = ['User-agent: *'];
    // Crawlers must fetch pages to see `noindex`, so robots.txt excludes them only while public mode is off.
    lines.push(site.publicMode ? 'Allow: /' : 'Disallow: /');
    const base = baseOf(site, request);
    if (site.publicMode && site.indexing && base !== '') lines.push(`Sitemap: ${base}/sitemap.xml`);
    return sendChecked(request, reply, 'text/plain; charset=utf-8', `${lines.join('\n')}\n`);
  });
  server.get<{ Querystring: Record<string, unknown> }>('/sitemap.xml', async (request, reply) => {
    const { site, base } = await enter(request);
    // Sitemaps have absolute addresses only.
    if (!site.indexing || base === '') throw refuse('not-found');
    const text = await sitemaps.read(base, lastOf(request.query.part));
    return sendChecked(request, reply, 'application/xml; charset=utf-8', text);
  });
  server.get<{ Querystring: Record<string, unknown> }>('/oembed', async (request, reply) => {
    const { site, base } = await enter(request);
    const { url, format, maxwidth, maxheight } = request.query;
    const asked = Object.entries({ url, format, maxwidth, maxheight }).flatMap(([key, value]) => {
      const text = lastOf(value);
      return text === undefined ? [] : [[key, text]];
    });
    const answer = await embed(db, site, base, Object.fromEntries(asked), pageLanguage(request));
    // Other sites may read the response, because it is the same for every caller.
    reply.header('access-control-allow-origin', '*').header('cross-origin-resource-policy', 'cross-origin');
    return sendChecked(request, reply, 'application/json; charset=utf-8', JSON.stringify(answer));
  });
  server.get<{ Params: { '*': string } }>('/feeds/*', async (request, reply) => {
    const { site, base } = await enter(request);
    const text = await writeFeed(db, site, base, request.params['*'], pageLanguage(request));
    if (text === null) throw refuse('not-found');
    return sendChecked(request, reply, 'application/atom+xml; charset=utf-8', text);
  });
  for (const path of ['/robots.txt', '/sitemap.xml', '/oembed', '/feeds/*'])
    refuseMethods(server, path, ['GET']);
}

/**
 * Returns the head of pages that visitors may open, as a visitor sees them. The head of a link does not describe what the link
 * leads to. Requests with a session receive no head, because it serves clients that run no scripts. On an error or an exhausted budget the page is sent without its head.
 * A page that does not exist for visitors is a 404 (PUBLIC-6).
 */
export function publicHeads({ db, config, log }: Parts, budgets: Budgets): HeadOf {
  return async (request) => {
    const path = request.url.split('?')[0] ?? '';
    const isLink = pageKindOf(path) === 'link';
    if (!(isLink || mayBePublicPage(path)) || request.cookies.user !== undefined) return null;
    try {
      await budgets.spendOnEntry({}, clientAddress(request), null);
      const site = await readPublicSite(db, config);
      const language = pageLanguage(request);
      if (isLink) return { html: renderLinkHead(site, language), isIndexed: false };
      if (!site.publicMode) return null;
      const page = await describePage(db, site, path, language);
      if (page === null) return 'missing';
      return { html: renderHead(site, baseOf(site, request), page, language), isIndexed: site.indexing };
    } catch (error) {
      if (!(error instanceof Refusal)) log.warn({ err: error }, 'a page is served without its head');
      return null;
    }
  };
}
