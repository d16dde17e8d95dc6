import type { Client } from '@vitrine/contract/client';
import type { Operations } from '@vitrine/contract/operations';

/** Moves a file that was uploaded for a post to the trash, unless other posts have it. */
export async function discardFile(
  client: Client<Operations>,
  assetId: string,
  postId: string | undefined,
): Promise<void> {
  const params = { id: assetId };
  const { items, withheld_count: others } = await client.call('listAssetPosts', { params });
  if (others > 0 || items.some(({ id }) => id !== postId)) return;
  await client.call('deleteAsset', { params, body: {} });
}
