import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { UserStatus } from '@vitrine/contract/users';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import type { AuditFilter } from './audit-filter.ts';

/** What the list of accounts is narrowed to. */
export interface AccountFilter {
  readonly q: string;
  readonly status: UserStatus | undefined;
}

/** Accounts, newest first, a page at a time. */
export function accountsQuery({ client }: Service, { q, status }: AccountFilter) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'accounts', q, status ?? ''],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listUsers', {
        query: {
          ...pageParams(pageParam),
          ...(q === '' ? {} : { q }),
          ...(status === undefined ? {} : { status }),
        },
        signal,
      }),
  });
}

/** Files that are more widely visible than their posts, newest first. */
export function exposedQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'exposed'],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listExposedAssets', { query: pageParams(pageParam), signal }),
  });
}

/** One account. */
export function accountQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'account', ref],
    queryFn: ({ signal }) => client.call('getAdminUser', { params: { ref }, signal }),
  });
}

/** Every role, with what it gives. */
export function rolesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'roles'],
    queryFn: ({ signal }) => readToEnd((page) => client.call('listRoles', { query: page, signal })),
  });
}

/** Every capability code with its label. */
export function capabilitiesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'capabilities'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readToEnd((page) => client.call('listCapabilities', { query: page, signal })),
  });
}

/** What an account may do, and where it comes from. */
export function holdingsQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'held', ref],
    queryFn: ({ signal }) => client.call('getUserCapabilities', { params: { ref }, signal }),
  });
}

/** Where an account is signed in, newest first. */
export function accountSessionsQuery({ client }: Service, ref: number) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'sessions', ref],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listUserSessions', { params: { ref }, query: pageParams(pageParam), signal }),
  });
}

/** The name behind a ref. */
export function personQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'person', ref],
    staleTime: 300_000,
    queryFn: ({ signal }) => client.call('getUser', { params: { ref }, signal }),
  });
}

/** What happened, newest first. A log is looked at to see the latest, so it is asked for at every visit. */
export function auditQuery({ client }: Service, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'audit', filter],
    ...byCursor,
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAudit', { query: { ...pageParams(pageParam), ...filter }, signal }),
  });
}

/** How long audit events are kept. */
export function retentionQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'retention'],
    queryFn: ({ signal }) => client.call('getAuditRetention', { signal }),
  });
}

/** Reads again what the lists and the page of an account show, after it was changed. */
export async function refreshAccount({ queries }: Service, ref: number): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['admin', 'account', ref] }),
    queries.invalidateQueries({ queryKey: ['admin', 'held', ref] }),
    queries.invalidateQueries({ queryKey: ['admin', 'sessions', ref] }),
    queries.invalidateQueries({ queryKey: ['admin', 'accounts'] }),
  ]);
}
