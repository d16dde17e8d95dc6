/// <reference lib="webworker" />
import { answersAccountHeader, isSignIn, workerTakesAnswers } from '@vitrine/contract/page-kinds';
import { version } from '$app/env';
import { changesSaved, isFresh, isSavedRead, keepSavedPosts, keptPicture } from './lib/app/saved.ts';
import { keepShared } from './lib/app/shared.ts';
import {
  forgetPrivate,
  isOffline,
  isScript,
  privateName,
  privatePrefix,
  shellName,
} from './lib/app/stored.ts';
import type { BroughtAnswers } from './lib/first-answers.ts';
import { uploadsTag } from './lib/upload/background.ts';
import { sendLeftFiles } from './lib/upload/send-left.ts';

/**
 * Keeps the pages usable without a connection. Caches the shell, the scripts that were loaded, and what the feed last
 * showed to the account that is signed in, and its saved posts. Everything else goes to the network as if there were no
 * service worker.
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

/** Reads a part of a saved post. Refreshes what is kept, but keeps nothing else. */
async function answerSavedRead(event: FetchEvent): Promise<Response> {
  const { request } = event;
  const asked = await currentAccount();
  try {
    const response = await fetch(request);
    const copy = response.clone();
    const refresh = async () => {
      if (asked !== null && (await keptResponse(request)) !== undefined) await keep(request, asked, copy);
    };
    event.waitUntil(refresh());
    return response;
  } catch (error) {
    const kept = await keptResponse(request);
    if (kept === undefined) throw error;
    return kept;
  }
}

/** Shows the picture of a saved post in the size that is kept. Others come from the cache of the browser. */
async function answerPicture(request: Request, kept: string): Promise<Response> {
  return (await keptResponse(new Request(kept))) ?? fetch(request);
}

/** The scripts of the pages that show saved posts, as the service names them in the headers of these pages. */
async function keepPagesOfSaved(): Promise<void> {
  const scripts = await caches.open(shell);
  for (const path of ['/collections', '/posts/saved']) {
    const { headers } = await fetch(path);
    const named = (headers.get('link') ?? '').matchAll(/<([^>]+)>/g);
    const urls = [...named].map(([, address = '']) => new URL(address, location.origin)).filter(isScript);
    for (const url of urls)
      if ((await scripts.match(url, { ignoreVary: true })) === undefined)
        await scripts.add(url).catch(() => undefined);
  }
}

/** Reads the saved posts of the account, if they may have changed, unless the reader saves data. */
async function keepSaved(hasChanged: boolean): Promise<void> {
  const ref = await currentAccount();
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  if (ref === null || connection?.saveData === true) return;
  const cache = await caches.open(privateName(ref));
  if (!hasChanged && (await isFresh(cache))) return;
  await keepSavedPosts({ cache, fetch: (address) => fetch(address), isCurrent: () => account === ref });
  await keepPagesOfSaved();
}

/** Passes on what was shared from another app to a new post, which needs an account. */
async function answerShare(request: Request): Promise<Response> {
  let count = 0;
  try {
    const form = await request.formData();
    const files = form.getAll('files').filter((file) => file instanceof File && file.size > 0);
    await keepShared(files.filter((file) => file instanceof File));
    count = files.length;
  } catch {
    // There is no room, or it is no form. The page says that nothing arrived.
  }
  return Response.redirect(`/new?shared=${count}`, 303);
}

async function answerChange(event: FetchEvent): Promise<Response> {
  const response = await fetch(event.request);
  if (response.ok) event.waitUntil(keepSaved(true).catch(() => undefined));
  return response;
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
  if (request.method === 'POST' && url.pathname === '/share') event.respondWith(answerShare(request));
  if (changesSaved(request)) event.respondWith(answerChange(event));
  if (request.method !== 'GET') return;
  const picture = navigator.onLine ? undefined : keptPicture(url);
  // Addresses below /s and /invite contain secrets. No page is kept by its address: offline, all are the same shell.
  if (request.mode === 'navigate' && !url.pathname.startsWith('/api/')) event.respondWith(answerPage(event));
  else if (isScript(url)) event.respondWith(answerScript(event));
  else if (isOffline(url)) event.respondWith(answerRead(event));
  else if (isSavedRead(url)) event.respondWith(answerSavedRead(event));
  else if (picture !== undefined) event.respondWith(answerPicture(request, picture));
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
  if (data?.type === 'loaded') {
    const kept = keepLoaded(data.addresses, data.brought ?? [], data.account);
    event.waitUntil(kept.then(() => keepSaved(false)).catch(() => undefined));
  } else if (data?.type === 'update') void worker.skipWaiting();
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

const hasPages = async () => (await worker.clients.matchAll({ type: 'window' })).length > 0;

/** Sends the files of closed pages. Open pages send theirs themselves: then it fails, and the browser tries again later. */
async function continueUploads(): Promise<void> {
  if (await hasPages()) throw new Error('pages are open');
  // The session may have ended, or be of somebody else by now.
  const response = await fetch('/api/v1/auth/me');
  const { ref, impersonated_by } = response.ok ? await response.json() : { ref: null, impersonated_by: null };
  if (ref !== null && impersonated_by === null && ref === (await currentAccount()))
    await sendLeftFiles(ref, async () => !(await hasPages()));
}

worker.addEventListener('sync', (event) => {
  // TypeScript does not know Background Sync.
  const { tag } = event as ExtendableEvent & { tag: string };
  if (tag === uploadsTag) (event as ExtendableEvent).waitUntil(continueUploads());
});
