import { getAssetFile } from '@vitrine/contract/asset-bytes';
import type { Caller } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle, type RequestOf } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { divideName, nameWith } from '../assets/file-name.ts';
import { findBytes } from '../assets/find-bytes.ts';
import { withOriginal } from '../assets/from-peer.ts';
import { disposition, isInert, notFoundIfRemoved, onceRecorded, send, sendOriginal } from '../assets/send.ts';
import { findDownloadable, formOf, readDownloadable } from './forms.ts';
import { findPreset } from './presets.ts';
import { beginsDownload, recordDownloads } from './record.ts';

/** Sends a file in the form of a preset as a download, under the content rule (DOWNLOAD-3). */
async function sendForm(
  deps: Deps,
  http: HttpFacts,
  {
    caller,
    id,
    preset: key,
    version,
  }: { caller: Caller; id: string; preset: string; version: number | undefined },
) {
  const find = async () => {
    if (version === undefined) return findDownloadable(deps.db, caller, id);
    const row = await findBytes(deps, caller, { id, key: null, version });
    return row === null ? null : readDownloadable(deps.db, id, row);
  };
  const file = await find();
  if (file === null) throw notFound();
  const preset = await findPreset(deps.db, caller, key);
  const original = { hash: file.file_hash, sizeBytes: file.size_bytes };
  const sent = withOriginal(deps, original, async (sizeBytes) => {
    const form = await formOf(deps, caller, { ...file, size_bytes: sizeBytes }, preset);
    const name = nameWith(divideName(file.file_name).stem, form.extension);
    return send(deps, http, {
      object: form.object,
      type: form.type,
      sizeBytes: form.bytes,
      etag: `"${file.file_hash}-${preset.key}-${form.object.split('/').at(-1) ?? ''}"`,
      immutable: false,
      headers: {
        'content-disposition': disposition('attachment', name),
        'content-security-policy': sandboxPolicy,
      },
    });
  });
  return notFoundIfRemoved(sent, find);
}

/** Sends the original, under the content rule (FILE-2). Types that a browser could execute are sandboxed. */
async function sendFile(deps: Deps, { caller, params, query, http }: RequestOf<typeof getAssetFile>) {
  const find = () => findBytes(deps, caller, { id: params.id, key: null, version: query.version });
  const row = await find();
  if (row === null) throw notFound();
  const inline = isInert(row.mime) && query.download !== true;
  const original = {
    object: originalKey(row.file_hash),
    type: row.mime,
    etag: `"${row.file_hash}"`,
    immutable: query.v === row.file_hash,
    isDownload: query.download === true,
    headers: {
      'content-disposition': disposition(inline ? 'inline' : 'attachment', row.file_name),
      'content-security-policy': sandboxPolicy,
    },
  };
  const sent = withOriginal(deps, { hash: row.file_hash, sizeBytes: row.size_bytes }, (sizeBytes) =>
    sendOriginal(deps, http, { ...original, sizeBytes }),
  );
  return notFoundIfRemoved(sent, find);
}

/** `GET /assets/{id}/file`. Downloads are in the history of the file. */
export const file = handle(getAssetFile, async (deps, request) => {
  const { caller, params, query, http } = request;
  const answer =
    query.preset === undefined
      ? await sendFile(deps, request)
      : await sendForm(deps, http, { caller, id: params.id, preset: query.preset, version: query.version });
  const isDownload = query.download === true || query.preset !== undefined;
  if (!isDownload || !beginsDownload(http, answer.status)) return answer;
  return onceRecorded(answer, recordDownloads(deps.db, caller, [params.id]));
});
