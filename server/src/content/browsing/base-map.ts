import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getBaseMap } from '@vitrine/contract/browsing';
import { handle } from '../../core/handle.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { sendPart } from '../../platform/http/send-part.ts';

/** Returns the size and the time of change of a file, or null if there is no such file. */
async function stateOf(path: string) {
  const found = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  return found?.isFile() === true ? found : null;
}

/** `GET /base-map` (BROWSE-9): the operator's map, which they replace while the service runs. */
export const baseMap = handle(getBaseMap, async ({ config }, { http }) => {
  const path = join(config.dataDir, 'map.pmtiles');
  const state = await stateOf(path);
  if (state === null) return { status: 204 };
  const { size, mtimeMs } = state;
  const sent = {
    type: 'application/vnd.pmtiles',
    sizeBytes: size,
    etag: `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`,
    immutable: false,
    headers: {},
  };
  return sendPart(http, sent, async (range) => (await open(path)).createReadStream(range));
});
