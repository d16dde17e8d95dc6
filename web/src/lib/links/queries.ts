import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { ShareLink, ShareLinkCreate, ShareLinkUpdate, TargetKind } from '@vitrine/contract/links';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** The kinds of targets of links. */
export interface LinkTarget {
  readonly kind: TargetKind;
  readonly id: string;
}

const operationsOf = {
  post: { list: 'listPostLinks', create: 'createPostLink' },
  asset: { list: 'listAssetLinks', create: 'createAssetLink' },
  collection: { list: 'listCollectionLinks', create: 'createCollectionLink' },
} as const;

/** Lists the links to a target that are not revoked, newest first. */
export function linksQuery({ client }: Service, { kind, id }: LinkTarget) {
  return {
    queryKey: ['links', kind, id],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<ShareLink[]> => {
      const { list } = operationsOf[kind];
      const links = await readToEnd((query) => client.call(list, { params: { id }, query, signal }));
      return links.filter((link) => link.revoked_at === null);
    },
  };
}

/** Reads the addresses of the reader's own links to a target, by id of the link. */
export function addressesQuery({ client }: Service, { id }: LinkTarget) {
  return queryOptions({
    queryKey: ['links', 'addresses', id],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const links = await readToEnd((query) =>
        client.call('listOwnLinks', { query: { ...query, target_id: id }, signal }),
      );
      return new Map(links.flatMap((link) => (link.url === undefined ? [] : [[link.id, link.url] as const])));
    },
  });
}

/** Lists the reader's own links, newest first. Never cached, because visitors change the counts. */
export function ownLinksQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['links', 'own'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listOwnLinks', { query: pageParams(pageParam), signal }),
  });
}

/** Lists everyone's links for administrators. */
export function allLinksQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['links', 'all'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listAllLinks', { query: pageParams(pageParam), signal }),
  });
}

/** Lists views and downloads of each file of a link. */
export function linkViewsQuery({ client }: Service, link: string) {
  return infiniteQueryOptions({
    queryKey: ['links', 'views', link],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listLinkViews', { params: { link }, query: pageParams(pageParam), signal }),
  });
}

export async function createLink(
  { client, queries }: Service,
  { kind, id }: LinkTarget,
  body: ShareLinkCreate,
) {
  const made = await client.call(operationsOf[kind].create, { params: { id }, body });
  await queries.invalidateQueries({ queryKey: ['links'] });
  return made;
}

/** Replaces the address of a link, for a reason without the approvals that it needs, and returns the link with the new one. */
export async function renewLink({ client, queries }: Service, link: string, overrideReason?: string) {
  const body = overrideReason === undefined ? undefined : { override_reason: overrideReason };
  const renewed = await client.call('renewLink', { params: { link }, body });
  await queries.invalidateQueries({ queryKey: ['links'] });
  return renewed;
}

export async function updateLink({ client, queries }: Service, link: string, body: ShareLinkUpdate) {
  await client.call('updateLink', { params: { link }, body });
  await queries.invalidateQueries({ queryKey: ['links'] });
}

export async function revokeLink({ client, queries }: Service, link: string) {
  await client.call('revokeLink', { params: { link } });
  await queries.invalidateQueries({ queryKey: ['links'] });
}
