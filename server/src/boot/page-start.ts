import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import { redirectFor } from '@vitrine/contract/page-gate';
import {
  answersAccountHeader,
  type FirstAnswers,
  firstAnswersId,
  isSignIn,
  type PageKind,
  pageKindOf,
  workerTakesAnswers,
} from '@vitrine/contract/page-kinds';
import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from 'fastify';

const setup = '/api/v1/setup/status';
const appearance = '/api/v1/appearance';
const session = '/api/v1/auth/me';
/** What every page of the library reads first. */
const everywhere = [setup, session, appearance];
const providers = '/api/v1/auth/providers';
const previews = '/api/v1/previews';
/** The feed with its usual order. */
const feedPosts = '/api/v1/posts?limit=50&sort=newest&feed=latest';
const feed = ['/api/v1/posts/featured', feedPosts];

function postReads(id: string): string[] {
  const post = `/api/v1/posts/${id}`;
  return [
    post,
    '/api/v1/downloads',
    `${post}/watch`,
    `${post}/comments?limit=20`,
    `${post}/whiteboards?limit=12`,
  ];
}

/** Returns the addresses that a page reads first. Visitors may not read more of a private library. */
function readsOf(kind: PageKind, path: string, hasSession: boolean): string[] {
  const name = path.split('/').at(-1) ?? '';
  // The cookies of guests and of unlocked links are for addresses of the API, so the link itself is not read here.
  if (kind === 'link') return [appearance];
  if (kind === 'sign-in') return [...everywhere, providers];
  if (kind === 'front' || !hasSession) return everywhere;
  if (kind === 'feed') return [...everywhere, previews, ...feed];
  return [...everywhere, previews, ...(kind === 'post' ? postReads(name) : [])];
}

const pathOf = ({ url }: FastifyRequest) => url.split('?')[0] ?? '';
const hasSession = ({ headers }: FastifyRequest) => headers.cookie !== undefined;

const fileHint = (file: string) =>
  file.endsWith('.css') ? `</${file}>; rel=preload; as=style; crossorigin` : `</${file}>; rel=modulepreload`;
const readHint = (address: string) => `<${address}>; rel=preload; as=fetch; crossorigin`;

/**
 * Returns the `Link` header of a page with the files of its kind, and what it reads first unless it brings the answers.
 * Browsers load them while the first scripts are still on their way.
 */
export function pageHints(
  request: FastifyRequest,
  preloads: Readonly<Partial<Record<PageKind, readonly string[]>>>,
  bringsAnswers: boolean,
): string {
  const path = pathOf(request);
  const kind = pageKindOf(path);
  const files = kind === 'link' || hasSession(request) ? (preloads[kind] ?? []) : [];
  // The address of a link is a secret, and a post reads more when its page is shown.
  const isRead = !bringsAnswers && kind !== 'link';
  const isWhole = kind === 'sign-in' || (kind === 'feed' && request.url === '/');
  const reads = isRead ? readsOf(isWhole ? kind : 'front', path, hasSession(request)) : [];
  return [...files.map(fileHint), ...reads.map(readHint)].join(', ');
}

/**
 * Returns whether the response becomes a page of a browser and nothing stores it: neither an older service worker nor a
 * cache. The length of a page with answers says something about them, so other sites cannot cause one (HTTP-40).
 */
function isVisit({ method, headers }: FastifyRequest): boolean {
  const worker = headers['service-worker-navigation-preload'];
  return (
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    (headers['sec-fetch-site'] === 'none' || headers['sec-fetch-site'] === 'same-origin') &&
    headers['sec-purpose'] === undefined &&
    (worker === undefined || worker === workerTakesAnswers)
  );
}

/** What a page brings with it. */
interface BroughtAnswers {
  /** An element for the page. */
  readonly html: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The sign-in page, if its caller must sign in first; otherwise null. */
  readonly signIn: string | null;
}

type Post = Pick<AnswerOf<Operations['listPosts']>['items'][number], 'cover_asset_id' | 'members'>;
type Variants = AnswerOf<Operations['getPreviews']>['variants'];

/** The number of pictures of a feed that are named. The others may be below the screen of a phone. */
const FIRST_PICTURES = 3;

/** Returns the address of the smallest uncropped preview of a post's cover, as pages show it; null if there is none. */
function coverAddress({ cover_asset_id: chosen, members }: Post, variants: Variants): string | null {
  const cover = members.find(({ asset_id }) => asset_id === chosen) ?? members[0];
  if (cover === undefined || cover.restricted) return null;
  const { id, ladder_available, file_hash, processing_status } = cover.asset;
  const [smallest] = variants.filter(({ fit }) => fit === 'contain').sort((a, b) => a.max_dim - b.max_dim);
  if (!ladder_available || file_hash === null || processing_status === 'pending' || smallest === undefined)
    return null;
  return `/api/v1/assets/${id}/variants/${smallest.key}?v=${file_hash}`;
}

/** Returns the body of an answer, which is that of the operation with this address; null without a success. */
function bodyIn<T>(answers: FirstAnswers, address: string): T | null {
  const [status, body] = answers[address] ?? [0, ''];
  return status === 200 ? (JSON.parse(body) as T) : null;
}

/** Returns elements that let browsers load the first pictures of the feed while its scripts start. */
function pictureHints(answers: FirstAnswers): string {
  const ladder = bodyIn<{ variants: Variants }>(answers, previews);
  const posts = bodyIn<{ items: Post[] }>(answers, feedPosts)?.items ?? [];
  return posts
    .slice(0, FIRST_PICTURES)
    .map((post) => coverAddress(post, ladder?.variants ?? []))
    .filter((address) => address !== null)
    .map((address) => `<link rel="preload" as="image" href="${address}" fetchpriority="low">`)
    .join('');
}

/**
 * Returns the address of the sign-in page if the page itself would lead there: the two are different documents, and the
 * scripts of the first would load in vain. Null for other pages, and while an answer is missing.
 */
function signInAddress(answers: FirstAnswers, kind: PageKind, address: string): string | null {
  const state = bodyIn<AnswerOf<Operations['getSetupStatus']>>(answers, setup);
  const look = bodyIn<AnswerOf<Operations['getAppearance']>>(answers, appearance);
  if (kind === 'link' || answers[session]?.[0] !== 401 || state === null || look === null) return null;
  const visitor = { needsSetup: state.needs_setup, publicMode: look.public_mode_enabled, user: null };
  const target = redirectFor(visitor, new URL(address, 'http://page'));
  return target !== undefined && isSignIn(target.split('?')[0] ?? '') ? target : null;
}

/** How long a page waits for an answer before it is sent without, in milliseconds. */
const PATIENCE = 1000;

const late = () => new Promise<null>((resolve) => setTimeout(resolve, PATIENCE, null).unref());

/** Reads as the caller of `request` would: with their session, address and budgets. */
async function readAs(
  server: FastifyInstance,
  request: FastifyRequest,
  address: string,
): Promise<LightMyRequestResponse | null> {
  const { host, cookie, authorization, 'user-agent': agent, 'accept-language': language } = request.headers;
  const forwarded = Object.entries(request.headers).filter(([name]) =>
    /^x-forwarded-|^forwarded$/.test(name),
  );
  const given = { host, cookie, authorization, 'user-agent': agent, 'accept-language': language };
  const headers = Object.fromEntries(
    [...Object.entries(given), ...forwarded].filter(([, value]) => value !== undefined),
  );
  const { remoteAddress } = request.raw.socket;
  return server
    .inject({ url: address, headers, ...(remoteAddress === undefined ? {} : { remoteAddress }) })
    .catch(() => null);
}

/** Returns the account that a page with this session is for; empty for none and while another account is acted as. */
function accountOf(answer: LightMyRequestResponse): string {
  if (answer.statusCode !== 200) return '';
  const { ref, impersonated_by } = answer.json<{ ref: number; impersonated_by: unknown }>();
  return impersonated_by === null ? String(ref) : '';
}

/**
 * Returns what the page of a request brings: the answers to what it reads first (APP-5); null if it must not bring any.
 */
export async function bringAnswers(
  server: FastifyInstance,
  request: FastifyRequest,
): Promise<BroughtAnswers | null> {
  if (!isVisit(request)) return null;
  const path = pathOf(request);
  const kind = pageKindOf(path);
  // With a filter, the feed reads something else.
  const shown = kind === 'feed' && request.url !== '/' ? 'library' : kind;
  const answers: Record<string, FirstAnswers[string]> = {};
  const headers: Record<string, string | string[]> = {};
  const read = async (address: string) => {
    const answer = await Promise.race([readAs(server, request, address), late()]);
    if (answer === null) return;
    if (address === session && (answer.statusCode === 200 || answer.statusCode === 401))
      headers[answersAccountHeader] = accountOf(answer);
    // Other refusals may be temporary: the page asks itself.
    else if (answer.statusCode !== 200) return;
    const renewed = answer.headers['set-cookie'];
    if (renewed !== undefined) headers['set-cookie'] = renewed;
    answers[address] = [answer.statusCode, answer.body];
  };
  await Promise.all(readsOf(shown, path, hasSession(request)).map(read));
  const text = JSON.stringify(answers satisfies FirstAnswers).replaceAll('<', '\\u003c');
  const pictures = shown === 'feed' ? pictureHints(answers) : '';
  return {
    html: `<script type="application/json" id="${firstAnswersId}">${text}</script>${pictures}`,
    headers,
    signIn: signInAddress(answers, kind, request.url),
  };
}
