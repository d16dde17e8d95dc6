/// <reference lib="webworker" />
import { answersAccountHeader, isSignIn, workerTakesAnswers } from '@vitrine/contract/page-kinds';
import { version } from '$app/env';
import {
  forgetPrivate,
  isOffline,
  isScript,
  privateName,
  privatePrefix,
  shellName,
} from './lib/app/stored.ts';
import type { BroughtAnswers } from './lib/first-answers.ts';

/**
 * Keeps the pages usable without a connection. Caches the shell, the scripts that were loaded, and what the feed last
 * showed to the account that is signed in. Everything else goes to the network as if there were no service worker.
 */

// TypeScript takes `self` for that of a page.
const worker = self as unknown as ServiceWorkerGlobalScope;

const shell = shellName(version);
/** The page of every address: the service sends the same for all of them, in the language of the reader. */
const shellPage = '/';

/** The account whose responses are kept: null for none, undefined until it is known. */
let account: number | null | undefined;

async function currentAccount(): Promise<number | null> {
  if (account !== undefined) return account;
  const name = (await caches.keys()).find((key) => key.startsWith(privatePrefix));
  // A response may have set it in the meantime.
  if (account === undefined) account = name === undefined ? null : Number(name.slice(privatePrefix.length));
  return account;
}

/** Sets the account whose responses are kept, and deletes those of other accounts. */
async function becomeAccount(ref: number | null): Promise<void> {
  account = ref;
  await forgetPrivate(ref);
}

/** Keeps a response for its account, and learns from it who is signed in. */
async function keep(request: Request, asked: number | null, response: Response): Promise<void> {
  if (new URL(request.url).pathname === '/api/v1/auth/me') {
    if (response.status === 401) return becomeAccount(null);
    if (!response.ok) return;
    const { ref, impersonated_by } = await response.clone().json();
    await becomeAccount(impersonated_by === null ? ref : null);
  } else if (account !== asked) return;
  if (response.ok && account != null) await (await caches.open(privateName(account))).put(request, response);
}

/** Returns a kept response with a header that tells the page that the connection is lost. */
async function keptResponse(request: Request): Promise<Response | undefined> {
  const ref = await currentAccount();
  if (ref === null) return undefined;
  const kept = await (await caches.open(privateName(ref))).match(request, { ignoreVary: true });
  if (kept === undefined) return undefined;
  const headers = new Headers(kept.headers);
  headers.set('vitrine-kept', '1');
  return new Response(kept.body, { status: kept.status, headers });
}

async function answerRead(event: FetchEvent): Promise<Response> {
  const { request } = event;
  const asked = await currentAccount();
  try {
    const response = await fetch(request);
    event.waitUntil(keep(request, asked, response.clone()));
    return response;
  } catch (error) {
    const kept = await keptResponse(request);
    if (kept === undefined) throw error;
    return kept;
  }
}

/** Keeps the shell in the current language of the reader. Reads it anew, because a visit also brings private answers. */
async function keepShell(): Promise<void> {
  const response = await fetch(shellPage);
  if (response.ok && !response.headers.has(answersAccountHeader))
    await (await caches.open(shell)).put(shellPage, response);
}

/** Learns who is signed in from a page that brings the answers to its first requests. */
async function meetAccount({ headers }: Response): Promise<void> {
  const ref = headers.get(answersAccountHeader);
  if (ref !== null) await becomeAccount(ref === '' ? null : Number(ref));
}

async function answerPage(event: FetchEvent): Promise<Response> {
  try {
    const early: Response | undefined = await event.preloadResponse;
    const response = early ?? (await fetch(event.request));
    const isShell = response.ok && new URL(event.request.url).pathname === shellPage;
    if (isShell) event.waitUntil(keepShell().catch(() => undefined));
    await meetAccount(response);
    return response;
  } catch (error) {
    const page = await caches.match(shellPage, { ignoreVary: true });
    if (page === undefined) throw error;
    // The shell has no such page, and nobody can sign in without a connection.
    if (isSignIn(new URL(event.request.url).pathname)) return Response.redirect(shellPage);
    return page;
  }
}

async function answerScript(event: FetchEvent): Promise<Response> {
  const kept = await caches.match(event.request, { ignoreVary: true });
  if (kept !== undefined) return kept;
  const response = await fetch(event.request);
  if (response.ok) {
    const copy = response.clone();
    event.waitUntil(caches.open(shell).then((cache) => cache.put(event.request, copy)));
  }
  return response;
}

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(shell).then((cache) => cache.addAll([shellPage, '/favicon.svg'])));
});

worker.addEventListener('activate', (event) => {
  const tidy = async () => {
    await worker.registration.navigationPreload?.enable();
    await worker.registration.navigationPreload?.setHeaderValue(workerTakesAnswers);
    const names = await caches.keys();
    const old = names.filter((name) => !name.startsWith(privatePrefix) && name !== shell);
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  };
  event.waitUntil(tidy());
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.method === 'POST' && url.pathname === '/api/v1/auth/logout') account = null;
  if (request.method !== 'GET') return;
  // Addresses below /s and /invite contain secrets. No page is kept by its address: offline, all are the same shell.
  if (request.mode === 'navigate' && !url.pathname.startsWith('/api/')) event.respondWith(answerPage(event));
  else if (isScript(url)) event.respondWith(answerScript(event));
  else if (isOffline(url)) event.respondWith(answerRead(event));
});

/** Keeps what the page loaded before this worker controlled it. */
async function keepLoaded(
  addresses: readonly string[],
  brought: BroughtAnswers['all'],
  ref: number | null,
): Promise<void> {
  const urls = addresses.map((address) => new URL(address, location.origin));
  const scripts = await caches.open(shell);
  const missing = async (cache: Cache, url: URL) =>
    (await cache.match(url, { ignoreVary: true })) === undefined;
  for (const url of urls.filter(isScript))
    if (await missing(scripts, url)) await scripts.add(url).catch(() => undefined);
  await becomeAccount(ref);
  if (ref === null) return;
  const reads = await caches.open(privateName(ref));
  for (const [address, body] of brought) {
    const url = new URL(address, location.origin);
    if (!isOffline(url)) continue;
    await reads.put(url, new Response(body, { headers: { 'content-type': 'application/json' } }));
  }
  for (const url of urls.filter(isOffline)) {
    if (!(await missing(reads, url))) continue;
    const request = new Request(url);
    const response = await fetch(request).catch(() => undefined);
    if (response !== undefined) await keep(request, ref, response);
  }
}

worker.addEventListener('message', (event) => {
  const { data } = event;
  if (data?.type === 'loaded') event.waitUntil(keepLoaded(data.addresses, data.brought ?? [], data.account));
  else if (data?.type === 'update') void worker.skipWaiting();
});

worker.addEventListener('push', (event) => {
  const show = async () => {
    const { text, path, tag, user } = event.data?.json() ?? {};
    const ref = await currentAccount();
    // Hides a message for another account. Browsers require a notification for every message.
    const isOwn = ref === null || ref === user;
    await worker.registration.showNotification(isOwn ? text : '…', {
      tag,
      icon: '/icons/app-192.png',
      badge: '/icons/badge-96.png',
      data: { path: isOwn ? path : '/' },
    });
  };
  event.waitUntil(show());
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const url = new URL(event.notification.data?.path ?? '/', location.origin);
  const open = async () => {
    const windows = await worker.clients.matchAll({ type: 'window' });
    const shown = windows.find((client) => client.url === url.href) ?? windows[0];
    if (shown === undefined) return worker.clients.openWindow(url);
    await shown.focus();
    return shown.url === url.href ? shown : shown.navigate(url);
  };
  event.waitUntil(open());
});
