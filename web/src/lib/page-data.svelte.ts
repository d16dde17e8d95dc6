import { redirect } from '@sveltejs/kit';
import {
  CancelledError,
  type InfiniteData,
  type InfiniteQueryExecuteOptions,
  type QueryExecuteOptions,
  type QueryKey,
} from '@tanstack/svelte-query';
import { CallError } from '@vitrine/contract/client';
import { redirectFor } from '@vitrine/contract/page-gate';
import { invalidate } from '$app/navigation';
import { readPageState } from './identity/visitor-state.ts';
import { isMissing, type MissingWords, refusePage } from './page-problems.ts';
import type { Service } from './service.ts';

/** The parts of the event of a `load` that are used. */
interface PageEvent {
  readonly url: URL;
  parent(): Promise<{ readonly service: Service }>;
  depends(key: `vitrine:${string}`): void;
}

/** What a `load` depends on that `followSubject` runs again. */
export const pageSubject = 'vitrine:subject';

/**
 * Reads what a page shows first, for its `load`, unless it is cached. The page itself observes the same query, which
 * reloads stale answers. An error ends the load with the error page; retries are up to the user, because nothing of
 * the page is visible meanwhile.
 */
export async function readForPage<F, D, K extends QueryKey>(
  event: PageEvent,
  queryFor: (service: Service) => QueryExecuteOptions<F, Error, D, F, K>,
  missing?: MissingWords,
): Promise<D> {
  event.depends(pageSubject);
  const { service } = await event.parent();
  const query = queryFor(service);
  const { queries } = service;
  return orErrorPage(event, service, missing, async () => {
    const state = queries.getQueryState(query.queryKey);
    const failed = state?.error ?? null;
    try {
      // The page found out itself, after it had shown a cached answer or a part of one.
      if (failed !== null && (state?.data === undefined || isMissing(failed))) throw failed;
      return await queries.query({ ...query, staleTime: 'static', retry: false });
    } catch (failure) {
      // The next visit asks again.
      queries.removeQueries({ queryKey: query.queryKey, exact: true });
      throw failure;
    }
  });
}

/** Reads the first page of a list, like `readForPage`. */
export async function readListForPage<F, K extends QueryKey, P>(
  event: PageEvent,
  listFor: (service: Service) => InfiniteQueryExecuteOptions<F, Error, InfiniteData<F>, K, P>,
): Promise<void> {
  const { service } = await event.parent();
  const list = listFor(service);
  await orErrorPage(event, service, undefined, () =>
    service.queries.infiniteQuery({ ...list, staleTime: 'static', retry: false }),
  );
}

/** Starts to read what a page shows beside its first data, without waiting. The page copes without it. */
export function readAhead<F, D, K extends QueryKey>(
  { queries }: Service,
  query: QueryExecuteOptions<F, Error, D, F, K>,
): void {
  void queries.query({ ...query, retry: false }).catch(() => undefined);
}

async function orErrorPage<T>(
  event: PageEvent,
  service: Service,
  missing: MissingWords | undefined,
  read: () => Promise<T>,
  again = false,
): Promise<T> {
  try {
    return await read();
  } catch (failure) {
    // A concurrent response showed that the session has ended, and pending reads were discarded.
    if (failure instanceof CancelledError) return orErrorPage(event, service, missing, read, again);
    if (failure instanceof CallError && failure.status === 401) {
      const state = await readPageState(service);
      const elsewhere = redirectFor(state, event.url);
      if (elsewhere !== undefined) redirect(307, elsewhere);
      // The session has ended, and visitors may open the page.
      if (state.user === null && !again) return orErrorPage(event, service, missing, read, true);
    }
    refusePage(failure, missing);
  }
}

/** A query that a page observes. */
interface Observed<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
}

/**
 * Runs `load` again when the subject of the page got another title, or can no longer be read. `load` then returns the
 * title or the error page.
 */
export function followSubject<T>(
  subject: Observed<T>,
  titleOf: (loaded: T) => string,
  title: () => string | undefined,
): void {
  $effect(() => {
    const { data, error } = subject;
    const isCurrent = data === undefined ? error === null : titleOf(data) === title();
    if (isMissing(error) || !isCurrent) void invalidate(pageSubject, true);
  });
}
