import type { Client } from '@vitrine/contract/client';
import type { Operations } from '@vitrine/contract/operations';
import { sendAsset, sendSubtitles } from './send.ts';
import type { UploadTransport } from './uploads.svelte.ts';

/** The functions that send files to the service of this origin. */
export function createUploadTransport(client: Client<Operations>): UploadTransport {
  return {
    sendAsset,
    sendSubtitles,
    async copiesOf(assetId) {
      const { items } = await client.call('listCopies', { params: { id: assetId } });
      return items;
    },
  };
}
