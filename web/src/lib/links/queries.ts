import type { ShareLink, ShareLinkCreate, ShareLinkUpdate, TargetKind } from '@vitrine/contract/links';
import { readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

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

/** Creates a link. Only this response contains its address. */
export async function createLink(
  { client, queries }: Service,
  { kind, id }: LinkTarget,
  body: ShareLinkCreate,
) {
  const made = await client.call(operationsOf[kind].create, { params: { id }, body });
  await queries.invalidateQueries({ queryKey: ['links', kind, id] });
  return made;
}

export async function updateLink(
  { client, queries }: Service,
  { kind, id }: LinkTarget,
  link: ShareLink,
  body: ShareLinkUpdate,
) {
  await client.call('updateLink', { params: { link: link.id }, body });
  await queries.invalidateQueries({ queryKey: ['links', kind, id] });
}

export async function revokeLink({ client, queries }: Service, { kind, id }: LinkTarget, link: ShareLink) {
  await client.call('revokeLink', { params: { link: link.id } });
  await queries.invalidateQueries({ queryKey: ['links', kind, id] });
}
