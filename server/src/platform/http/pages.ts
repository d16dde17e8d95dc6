import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import { languages, pageFileOf, preloadsFileOf, signInFileOf } from '@vitrine/contract/languages';
import { isSignIn, type PageKind } from '@vitrine/contract/page-kinds';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pageLanguage } from './page-language.ts';
import { notFound } from './refuse.ts';
import { pagePolicy, unlistedHeaders } from './security-headers.ts';

/**
 * Returns whether this is a file of the web app; none that begins with a dot is. Listing its thousands of files would slow
 * the start, and would miss those of a build made while the server runs.
 */
function isFileIn(root: string, path: string): boolean {
  if (/[\0\\]/.test(path) || path.split('/').some((part) => part === '' || part.startsWith('.')))
    return false;
  const file = join(root, path);
  // Unlike statSync, existsSync does not throw on names that no file can have.
  return existsSync(file) && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** The files that kinds of pages load first. */
type Preloads = Readonly<Partial<Record<PageKind, readonly string[]>>>;

/** A built page: its HTML, its policy and the files that it loads first beside those that the HTML names. */
interface BuiltPage {
  html: string;
  policy: string;
  preloads: Preloads;
}

/** Returns the files that are not named in the page. */
function preloadsIn(file: string, html: string): Preloads {
  if (!existsSync(file)) return {};
  // Written by the build.
  const all = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Preloads);
  return Object.fromEntries(all.map(([kind, files]) => [kind, files.filter((name) => !html.includes(name))]));
}

/** The page as on disk: it changes when the web app is rebuilt while the server runs. */
function pageReader(page: string, preloads: string): () => BuiltPage {
  const read = (modifiedAt: number) => {
    const html = readFileSync(page, 'utf8');
    return { modifiedAt, html, policy: pagePolicy(html), preloads: preloadsIn(preloads, html) };
  };
  let known = read(statSync(page).mtimeMs);
  return () => {
    // The page is missing for a moment while a new build replaces it.
    const modifiedAt = statSync(page, { throwIfNoEntry: false })?.mtimeMs ?? known.modifiedAt;
    if (modifiedAt !== known.modifiedAt) known = read(modifiedAt);
    return known;
  };
}

type ReadPage = ReturnType<typeof pageReader>;

/** Returns the pages in each language by their file names; empty when the web app is not built. */
function readersIn(root: string): ReadonlyMap<string, ReadPage> {
  const named = languages.flatMap((language) =>
    [pageFileOf(language), signInFileOf(language)].map((name) => [name, preloadsFileOf(language)] as const),
  );
  const built = named.filter(([name]) => existsSync(join(root, name)));
  return new Map(built.map(([name, preloads]) => [name, pageReader(join(root, name), join(root, preloads))]));
}

/** The metadata in the head of a page, for clients that run no scripts. */
interface PageHead {
  /** HTML elements, including a `title`. */
  html: string;
  /** Whether search engines may index the page. */
  isIndexed: boolean;
}

/** Returns the head of the requested page; null for the default head, `missing` for that of a page that is a 404. */
export type HeadOf = (request: FastifyRequest) => Promise<PageHead | 'missing' | null>;

/** Returns the page with its own head instead of the default title, and without `noindex` if it is public. */
function withHead(page: string, { html, isIndexed }: PageHead): string {
  const titled = page.replace(/<title>[^<]*<\/title>/, () => html);
  return isIndexed ? titled.replace(/<meta name="robots"[^>]*>/, '') : titled;
}

/** Returns the page with an element before everything that it shows, where its scripts find it. */
function withAnswers(page: string, element: string): string {
  return page.replace(/<body[^>]*>/, (body) => `${body}${element}`);
}

/** Answers that a page brings, as an element, and the headers of a page that has them. */
interface Answers {
  readonly html: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The address of the sign-in page, if the caller must sign in first. */
  readonly signIn: string | null;
}

export interface PageOptions {
  headOf?: HeadOf;
  /** Selects addresses that are secrets: search engines and the `Referer` header do not get them. */
  isUnlisted?: (path: string) => boolean;
  /** Returns the `Link` header of the page, which names what browsers should read ahead; empty for none. */
  hintsOf?: (request: FastifyRequest, preloads: Preloads, bringsAnswers: boolean) => string;
  /** Returns the answers to what the page reads first (APP-5); null if it must not bring any. */
  answersFor?: (request: FastifyRequest) => Promise<Answers | null>;
  /** Returns where an address of an earlier system leads; null for other addresses. */
  redirectOf?: (request: FastifyRequest) => Promise<string | null>;
  /** Counts a request against the budget for files of its address; throws when it is spent (RATE-4). */
  countFile?: (request: FastifyRequest) => Promise<void>;
}

/** Files with hashed names: in the shared folder, and in those of the languages. */
const hashed = /^_app\/(?:immutable|[A-Za-z-]+\.[0-9a-f]{8})\/((?:\w[\w~.-]*\/)+\w[\w~.-]*)$/;

/**
 * Serves the web app: hashed files as immutable, the page with revalidation. Any path that is neither a file nor part
 * of the API gets the page, with the head from `headOf`. One route serves all files, because hundreds of routes would
 * slow the start.
 */
export async function servePages(
  server: FastifyInstance,
  root: string,
  {
    headOf = async () => null,
    isUnlisted = () => false,
    hintsOf = () => '',
    answersFor = async () => null,
    redirectOf = async () => null,
    countFile = async () => {},
  }: PageOptions = {},
): Promise<void> {
  const readers = readersIn(root);
  const englishName = pageFileOf('en');
  const english = readers.get(englishName);
  /** Returns the file of the page in the language of the caller (LANGUAGE-1). */
  const pageFor = (request: FastifyRequest, path: string) => {
    const language = pageLanguage(request);
    const names = [...(isSignIn(path) ? [signInFileOf(language)] : []), pageFileOf(language)];
    return names.find((name) => readers.has(name)) ?? englishName;
  };
  if (english !== undefined) {
    await server.register(fastifyStatic, {
      root,
      serve: false,
      cacheControl: false,
      preCompressed: true,
      setHeaders: (reply, path) => {
        const file = relative(root, path)
          .split(sep)
          .join('/')
          .replace(/\.(?:br|gz)$/, '');
        reply.header('cache-control', hashed.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache');
        reply.header('content-security-policy', (readers.get(file) ?? english)().policy);
      },
    });
    server.get<{ Params: { '*': string } }>('/*', async (request, reply) => {
      const wanted = request.params['*'];
      const name = hashed.exec(wanted)?.[1];
      // The folder of a language has only what differs from the shared one.
      const file = [wanted, ...(name === undefined ? [] : [`_app/immutable/${name}`])].find((path) =>
        isFileIn(root, path),
      );
      if (file === undefined) return reply.callNotFound();
      await countFile(request);
      return reply.sendFile(file);
    });
  }
  server.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const isPage = (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/api/');
    const target = isPage ? await redirectOf(request) : null;
    // It depends on the caller.
    if (target !== null) return reply.header('cache-control', 'no-store').redirect(target);
    if (!isPage || english === undefined || /\.\w{1,8}$/.test(path)) throw notFound();
    await countFile(request);
    const name = pageFor(request, path);
    reply.header('vary', 'Cookie, Accept-Language');
    const { html, policy, preloads } = (readers.get(name) ?? english)();
    const head = await headOf(request);
    const answers = head === 'missing' ? null : await answersFor(request);
    if (answers !== null && answers.signIn !== null)
      return reply
        .headers(answers.headers)
        .header('cache-control', 'private, no-store')
        .redirect(answers.signIn);
    if (head !== 'missing') {
      const hints = hintsOf(request, preloads, answers !== null);
      if (hints !== '') reply.header('link', hints);
    }
    if (isUnlisted(path)) reply.headers(unlistedHeaders);
    if (head === null && answers === null) return reply.sendFile(name);
    reply
      .header('cache-control', answers === null ? 'no-cache' : 'private, no-store')
      .header('content-security-policy', policy)
      .type('text/html; charset=utf-8');
    if (head === 'missing') return reply.code(404).send(html);
    // Set for every response in security-headers.ts.
    if (head?.isIndexed === true) reply.raw.removeHeader('x-robots-tag');
    const titled = head === null ? html : withHead(html, head);
    return answers === null
      ? reply.send(titled)
      : reply.headers(answers.headers).send(withAnswers(titled, answers.html));
  });
}
