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
import {
  candidatesIn,
  FIRST_LINKED,
  linkedSources,
  linkedWidths,
  postPictureSizes,
  type Sources,
  sourcesIn,
} from '@vitrine/contract/picture-sources';
import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from 'fastify';
import type { LinkedPicture } from '../content/links/first-pictures.ts';

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
type Member = Post['members'][number];
type Variants = AnswerOf<Operations['getPreviews']>['variants'];

/** The number of pictures of a feed that are named. The others may be below the screen of a phone. */
const FIRST_PICTURES = 3;

/** Returns the uncropped previews of a member of a post, as pages show them; undefined if there are none. */
function previewsOf(member: Member | undefined, variants: Variants): Sources | undefined {
  if (member === undefined || member.restricted) return undefined;
  const { id, ladder_available, file_hash, processing_status } = member.asset;
  if (!ladder_available || file_hash === null || processing_status === 'pending') return undefined;
  const sizes = variants
    .filter(({ fit }) => fit === 'contain')
    .sort((a, b) => a.max_dim - b.max_dim)
    .map(({ key, max_dim: edge }) => ({
      edge,
      address: `/api/v1/assets/${id}/variants/${key}?v=${file_hash}`,
    }));
  return sourcesIn(candidatesIn(member.asset, sizes));
}

const coverOf = ({ cover_asset_id: chosen, members }: Post) =>
  members.find(({ asset_id }) => asset_id === chosen) ?? members[0];

/** Returns the body of an answer, which is that of the operation with this address; null without a success. */
function bodyIn<T>(answers: FirstAnswers, address: string): T | null {
  const [status, body] = answers[address] ?? [0, ''];
  return status === 200 ? (JSON.parse(body) as T) : null;
}

const pictureHint = ({ src, srcset }: Sources, sizes: string, priority: 'high' | 'low') =>
  `<link rel="preload" as="image" href="${src}"${
    srcset === '' || sizes === '' ? '' : ` imagesrcset="${srcset}" imagesizes="${sizes}"`
  } fetchpriority="${priority}">`;

/** Returns elements that let browsers load the first pictures of the feed while its scripts start. */
function feedHints(answers: FirstAnswers, variants: Variants): string {
  const posts = bodyIn<{ items: Post[] }>(answers, feedPosts)?.items ?? [];
  return posts
    .slice(0, FIRST_PICTURES)
    .map((post) => previewsOf(coverOf(post), variants))
    .filter((sources) => sources !== undefined)
    .map(({ src }) => pictureHint({ src, srcset: '' }, '', 'low'))
    .join('');
}

/** The type of pictures among those that every library has. */
const PICTURE = 1;

/** Returns whether the page of a post shows a file as a picture of which it knows the width before it has a layout. */
function isPlainPicture({ asset }: Extract<Member, { restricted: false }>): boolean {
  const { pixel_width: width, pixel_height: height, asset_type } = asset;
  const isTall = width !== null && height !== null && height > 2.4 * width;
  return asset_type === PICTURE && !isTall;
}

/** Returns an element that lets browsers load the picture of a post while its scripts start. */
function postHint(answers: FirstAnswers, path: string, variants: Variants): string {
  const first = bodyIn<Post>(answers, `/api/v1${path}`)?.members[0];
  if (first === undefined || first.restricted || !isPlainPicture(first)) return '';
  const sources = previewsOf(first, variants);
  return sources === undefined ? '' : pictureHint(sources, postPictureSizes(first.asset), 'high');
}

/** Returns elements that let browsers load the first pictures of a link while its scripts start. */
function linkHints(token: string, pictures: readonly LinkedPicture[]): string {
  const isAlone = pictures.length === 1;
  return pictures
    .slice(0, FIRST_LINKED)
    .map((picture, at) => {
      const sources = linkedSources(token, picture, isAlone);
      const priority = at === 0 ? 'high' : 'low';
      return sources === undefined ? '' : pictureHint(sources, linkedWidths(picture, isAlone), priority);
    })
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
 * Returns what the page of a request brings: the answers to what it reads first (APP-5), and the addresses of its first pictures; null if
 * it must not bring any. Leaves out the pictures of a link that the visitor may not open, or requests too often.
 */
export async function bringAnswers(
  server: FastifyInstance,
  request: FastifyRequest,
  picturesOfLink: (token: string) => Promise<readonly LinkedPicture[]>,
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
  const token = kind === 'link' ? (path.split('/').at(-1) ?? '') : '';
  const linked = token === '' ? [] : picturesOfLink(token).catch(() => []);
  await Promise.all(readsOf(shown, path, hasSession(request)).map(read));
  const text = JSON.stringify(answers satisfies FirstAnswers).replaceAll('<', '\\u003c');
  const variants = bodyIn<{ variants: Variants }>(answers, previews)?.variants ?? [];
  const hints =
    shown === 'feed'
      ? feedHints(answers, variants)
      : shown === 'post'
        ? postHint(answers, path, variants)
        : linkHints(token, await linked);
  return {
    html: `<script type="application/json" id="${firstAnswersId}">${text}</script>${hints}`,
    headers,
    signIn: signInAddress(answers, kind, request.url),
  };
}
