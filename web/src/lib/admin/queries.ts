import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';
import type { AuditFilter } from './audit-filter.ts';
import type { SignInFilter } from './sign-in-filter.ts';
import type { AccountFilter } from './status.ts';

/** Lists accounts, newest first. */
export function accountsQuery({ client }: Service, filter: AccountFilter) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'accounts', filter],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listUsers', { query: { ...pageParams(pageParam), ...filter }, signal }),
  });
}

/** Lists the sign-ins of all accounts, newest first. Reloaded at every visit, because readers want the latest. */
export function userSignInsQuery({ client }: Service, filter: SignInFilter) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'sign-ins', filter],
    ...byCursor,
    staleTime: readAtEveryVisit,
    gcTime: readAtEveryVisit,
    queryFn: ({ pageParam, signal }) =>
      client.call('listUserSignIns', { query: { ...pageParams(pageParam), ...filter }, signal }),
  });
}

/** Lists files that are more widely visible than their posts, newest first. */
export function exposedQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'exposed'],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listExposedAssets', { query: pageParams(pageParam), signal }),
  });
}

/** Reads one account. */
export function accountQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'account', ref],
    queryFn: ({ signal }) => client.call('getAdminUser', { params: { ref }, signal }),
  });
}

/** Lists all roles with what they confer. */
export function rolesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'roles'],
    queryFn: ({ signal }) => readToEnd((page) => client.call('listRoles', { query: page, signal })),
  });
}

/** Lists all capability codes with their labels. */
export function capabilitiesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'capabilities'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readToEnd((page) => client.call('listCapabilities', { query: page, signal })),
  });
}

/** Reads the capabilities of an account with their sources. */
export function holdingsQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'held', ref],
    queryFn: ({ signal }) => client.call('getUserCapabilities', { params: { ref }, signal }),
  });
}

/** Lists the sessions of an account, newest first. */
export function accountSessionsQuery({ client }: Service, ref: number) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'sessions', ref],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listUserSessions', { params: { ref }, query: pageParams(pageParam), signal }),
  });
}

/** Reads the profile of a ref, for its name. */
export function personQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'person', ref],
    staleTime: 300_000,
    queryFn: ({ signal }) => client.call('getUser', { params: { ref }, signal }),
  });
}

/** Lists audit events, newest first. Reloaded at every visit, because readers want the latest. */
export function auditQuery({ client }: Service, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'audit', filter],
    ...byCursor,
    staleTime: readAtEveryVisit,
    gcTime: readAtEveryVisit,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAudit', { query: { ...pageParams(pageParam), ...filter }, signal }),
  });
}

/** Reads the retention of audit events. */
export function retentionQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'retention'],
    queryFn: ({ signal }) => client.call('getAuditRetention', { signal }),
  });
}

/** Reloads the lists and pages that show an account, after it was changed. */
export async function refreshAccount({ queries }: Service, ref: number): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['admin', 'account', ref] }),
    queries.invalidateQueries({ queryKey: ['admin', 'held', ref] }),
    queries.invalidateQueries({ queryKey: ['admin', 'sessions', ref] }),
    queries.invalidateQueries({ queryKey: ['admin', 'accounts'] }),
  ]);
}
