import { canonicalLanguage } from '@vitrine/contract/sidecars';
import * as contract from '@vitrine/contract/subtitles';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { servedWithReviews } from '../../access/reviews.ts';
import type { Deps } from '../../core/deps.ts';
import { type FormPart, type HttpFacts, handle, handleForm } from '../../core/handle.ts';
import { kindOf } from '../../media/sniff.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import { checkQuota } from '../../people/quotas/check.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { checkJson } from '../../platform/http/validate.ts';
import { subtitlesKey } from '../../platform/storage/object-key.ts';
import { lockEditable } from '../assets/edit.ts';
import { discard, type Received, receive } from '../assets/receive.ts';
import { notFoundIfRemoved, send } from '../assets/send.ts';
import { MOST_SUBTITLE_BYTES, prepareSubtitles, removeSubtitles, storeSubtitles } from './store.ts';

/**
 * Returns the language of a track in canonical form, so that `DE` and `de` are one track; throws a 400 for an invalid
 * tag.
 */
export function readLanguage(tag: string): string {
  const lang = canonicalLanguage(tag);
  if (lang === null) throw refuse('subtitles-language-invalid');
  return lang;
}

interface SubtitleForm {
  received: Received;
  label: string;
}

const checkFields = checkJson(contract.SubtitleFields, 'form');

/** Reads the form: a part `file`, streamed to disk, and the field `label`. Leaves nothing behind on an error. */
async function readForm({ storage }: Deps, parts: AsyncIterable<FormPart>): Promise<SubtitleForm> {
  let received: Received | null = null;
  let label: string | null = null;
  try {
    for await (const part of parts) {
      if (part.kind === 'field') {
        if (part.name === 'label' && label !== null) throw refuse('given-twice', { property: 'label' });
        checkFields({ [part.name]: part.value });
        label = part.value;
      } else if (part.file.fieldname !== 'file' || received !== null) {
        part.file.file.resume();
        throw refuse('file-part-strict');
      } else {
        received = await receive(part.file.file, storage, MOST_SUBTITLE_BYTES);
        if (part.file.file.truncated) throw refuse('file-too-large');
      }
    }
    if (received === null) throw refuse('file-part-missing');
    return { received, label: label ?? '' };
  } catch (error) {
    if (received !== null) await discard(received.path);
    throw error;
  }
}

function recordTrack(
  tx: Tx,
  caller: SignedIn,
  { id, owner }: { id: string; owner: number | null },
  lang: string,
): Promise<void> {
  const change = { subtitle_tracks: lang };
  return recordEdit(tx, caller, { kind: 'asset', id, owner }, change);
}

/** `PUT /assets/{id}/subtitles/{lang}`: 201 for a new track, 200 for a replaced one. */
export const put = handleForm(
  contract.putSubtitles,
  { read: readForm, discard: ({ received }) => discard(received.path) },
  async (deps, { caller, params, form }) => {
    if (form === null) throw refuse('form-required');
    const lang = readLanguage(params.lang);
    // Files are converted only for callers who may edit the asset.
    await deps.db.transaction().execute((tx) => lockEditable(tx, caller, params.id));
    const prepared = await prepareSubtitles(deps, caller.ref, form.received);
    if ('reason' in prepared) throw refuse('subtitles-unreadable', { reason: prepared.reason });
    try {
      const { created, track } = await deps.db.transaction().execute(async (tx) => {
        const { id, owner } = await lockEditable(tx, caller, params.id);
        const { rows } = await sql<{ mime: string }>`
          select f.mime from assets a join files f on f.hash = a.file_hash where a.id = ${id}`.execute(tx);
        // SUBTITLE-11
        const kind = rows[0] === undefined ? null : kindOf(rows[0].mime);
        if (kind !== 'video' && kind !== 'audio') throw refuse('subtitles-without-time');
        const stored = await storeSubtitles(tx, deps.storage, {
          assetId: id,
          lang,
          label: form.label,
          prepared,
        });
        // They count towards the quota of the asset's owner, also when someone else adds them.
        await checkQuota(tx, owner ?? caller.ref);
        await recordTrack(tx, caller, { id, owner }, lang);
        return stored;
      });
      return created ? { status: 201 as const, body: track } : { status: 200 as const, body: track };
    } finally {
      await discard(prepared.path);
    }
  },
);

interface ServedTrack {
  file_hash: string;
  size_bytes: number;
}

/** SUBTITLE-5: text tracks `s`; image-based subtitles have no track to play. */
export const isText = sql<boolean>`s.source_format not in ('pgs', 'vobsub')`;

/** A text track of the asset with this id, under a rule of `assets a`. */
export async function findTrack(
  db: Database,
  id: string,
  lang: string,
  rule: RawBuilder<boolean>,
): Promise<ServedTrack | null> {
  const { rows } = await sql<ServedTrack>`
    select s.file_hash, s.size_bytes from assets a join subtitles s on s.asset_id = a.id
    where a.id = ${id} and s.lang = ${lang} and ${isText} and ${rule}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Sends the track that `find` returns; none is a 404. `isImmutable`: the address identifies these bytes permanently.
 */
export async function sendTrack(
  deps: Pick<Deps, 'storage' | 'small'>,
  http: HttpFacts,
  find: () => Promise<ServedTrack | null>,
  isImmutable: (hash: string) => boolean,
) {
  const row = await find();
  if (row === null) throw notFound();
  const sent = send(deps, http, {
    object: subtitlesKey(row.file_hash),
    type: 'text/vtt; charset=utf-8',
    sizeBytes: row.size_bytes,
    etag: `"${row.file_hash}"`,
    immutable: isImmutable(row.file_hash),
    headers: { 'content-security-policy': sandboxPolicy },
  });
  return notFoundIfRemoved(sent, find);
}

/** `GET /assets/{id}/subtitles/{lang}`: WebVTT; no access, no asset and no track are the same 404. */
export const get = handle(contract.getSubtitles, async (deps, { caller, params, query, http }) => {
  const lang = readLanguage(params.lang);
  return sendTrack(
    deps,
    http,
    () => findTrack(deps.db, params.id, lang, servedWithReviews(caller)),
    (hash) => query.v === hash,
  );
});

/** `DELETE /assets/{id}/subtitles/{lang}`. */
export const remove = handle(contract.deleteSubtitles, async ({ db }, { caller, params }) => {
  const lang = readLanguage(params.lang);
  await db.transaction().execute(async (tx) => {
    const { id, owner } = await lockEditable(tx, caller, params.id);
    if (!(await removeSubtitles(tx, id, lang))) throw refuse('subtitles-not-found');
    await recordTrack(tx, caller, { id, owner }, lang);
  });
  return { status: 204 };
});
