import type { AuthenticatedDocumentLoaderFactory, DocumentLoader } from '@fedify/fedify/runtime';
import { preloadedContexts } from '@fedify/fedify/runtime';
import { getJsonWith, type OutboundDeps } from '../federation/outbound.ts';
import { readSigned } from './signing.ts';

function remote(url: string, document: unknown) {
  return { contextUrl: null, documentUrl: url, document };
}

/** JSON-LD contexts that do not change are known; everything else is fetched like any other document (AP-11). */
function known(url: string) {
  return Object.hasOwn(preloadedContexts, url) ? remote(url, preloadedContexts[url]) : null;
}

/** Reads documents of other systems through the guard that all outbound requests pass. */
export function openLoader(deps: OutboundDeps): DocumentLoader {
  return async (url) => known(url) ?? remote(url, await getJsonWith(deps, url, {}));
}

/** The same with signed requests, because some systems refuse unsigned ones. */
export function openSignedLoader(deps: OutboundDeps): AuthenticatedDocumentLoaderFactory {
  return (key) => async (url) => known(url) ?? remote(url, await readSigned(deps, key, url));
}
