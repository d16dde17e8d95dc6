/** Kinds of pages by what they load first. `front`: pages outside the library, such as those for registering. */
export type PageKind = 'sign-in' | 'front' | 'library' | 'feed' | 'post' | 'link';

/** Returns whether a path is that of the sign-in page, which is a document of its own. */
export const isSignIn = (path: string): boolean => path === '/sign-in';

const front = /^\/(?:second-factor|register|setup|forgot-password|invite|reset|verify)(?:\/|$)/;

/** Returns the kind of the page at a path. */
export function pageKindOf(path: string): PageKind {
  if (path === '/') return 'feed';
  if (isSignIn(path)) return 'sign-in';
  if (/^\/posts\/[^/]+$/.test(path)) return 'post';
  if (/^\/s\/[^/]+$/.test(path)) return 'link';
  return front.test(path) ? 'front' : 'library';
}

/** The id of the element of a page that contains the responses to its first requests. */
export const firstAnswersId = 'first-answers';

/** The responses that a page contains: status and body by the address of the request. */
export type FirstAnswers = Readonly<Record<string, readonly [status: number, body: string]>>;

/** The header of a page with responses: the ref of the account that they are for, or empty without one. */
export const answersAccountHeader = 'Vitrine-Account';

/** What the service worker sends as `Service-Worker-Navigation-Preload` if it does not store pages with answers. */
export const workerTakesAnswers = 'answers';
