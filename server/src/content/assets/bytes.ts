import { getAssetStream, getAssetVariant } from '@vitrine/contract/asset-bytes';
import { isServedWhole } from '@vitrine/contract/renditions';
import type { Caller } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { kindOf } from '../../media/sniff.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { findBytes } from './find-bytes.ts';
import { notFoundIfRemoved, send } from './send.ts';
import { streamKey } from './served.ts';

interface WantedRendition {
  caller: Caller;
  id: string;
  key: string;
  /** The hash of the bytes in the address. */
  hash: string | undefined;
  version: number | undefined;
}

/** Sends a rendition, under the content rule; no access and no rendition are the same 404 (FILE-3). */
async function sendRendition(
  deps: Deps,
  http: HttpFacts,
  { caller, id, key, hash, version }: WantedRendition,
) {
  const find = () => findBytes(deps, caller, { id, key, version });
  const row = await find();
  if (row === null || row.rendition === null || !isServedWhole(key)) throw notFound();
  const sent = send(deps, http, {
    object: row.rendition.object,
    type: row.rendition.type,
    sizeBytes: row.rendition.bytes,
    // Its object has another name in every ladder.
    etag: `"${row.file_hash}-${key}-${row.rendition.object.split('/').at(-1) ?? ''}"`,
    // The owner of a video may choose another poster.
    immutable: hash === row.file_hash && kindOf(row.mime) !== 'video',
    headers: {
      'content-security-policy': sandboxPolicy,
      // Other sites may embed public renditions (oEmbed); browsers send no session there.
      ...(caller.kind === 'anonymous' ? { 'cross-origin-resource-policy': 'cross-origin' } : {}),
    },
  });
  return notFoundIfRemoved(sent, find);
}

/** Sends a rendition by its key. */
export const variant = handle(getAssetVariant, async (deps, { caller, params, query, http }) =>
  sendRendition(deps, http, {
    caller,
    id: params.id,
    key: params.key,
    hash: query.v,
    version: query.version,
  }),
);

/** Sends a file of a video's streams, under the path by which playlists reference it. */
export const stream = handle(getAssetStream, async (deps, { caller, params, query, http }) =>
  sendRendition(deps, http, {
    caller,
    id: params.id,
    key: streamKey(params.name),
    hash: query.v,
    version: undefined,
  }),
);
