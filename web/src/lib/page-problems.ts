import { error } from '@sveltejs/kit';
import { CallError } from '@vitrine/contract/client';
import { problemText } from './problems.ts';

/** What the error page says about a subject that does not exist or is hidden from the caller, and where it leads. */
export interface MissingWords {
  readonly heading: string;
  readonly message: string;
  readonly back?: { readonly href: string; readonly label: string };
}

/** Returns whether an error means that the subject does not exist or is hidden, or that its address cannot be one. */
export function isMissing(failure: unknown): boolean {
  return failure instanceof CallError && (failure.status === 404 || failure.status === 400);
}

/** Ends a `load` with the error page. `missing` has the words for a subject that cannot be found. */
export function refusePage(failure: unknown, missing?: MissingWords): never {
  if (missing !== undefined && isMissing(failure)) {
    const { message, ...words } = missing;
    error(404, message, words);
  }
  // `fetch` rejects with a TypeError without a response. Anything else is a mistake of the app.
  if (!(failure instanceof CallError) && !(failure instanceof TypeError)) throw failure;
  error(failure instanceof CallError ? failure.status : 503, problemText(failure), {});
}
