import { attachFilm } from '../../content/assets/film.ts';
import { stageFile } from '../../content/assets/insert.ts';
import { discard } from '../../content/assets/receive.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Asset } from './answers.ts';
import { FileFailure } from './client.ts';
import type { Context } from './context.ts';
import type { ImmichLibrary } from './library.ts';
import { receiveOriginal } from './originals.ts';

/** Returns the ids of the films of live photos, which become no assets of their own. */
export function filmsIn({ assets }: Pick<ImmichLibrary, 'assets'>): Set<string> {
  return new Set([...assets.values()].flatMap(({ livePhotoVideoId }) => livePhotoVideoId ?? []));
}

/** Gives the asset of a live photo its film, unless an earlier run did. A film that cannot be read is reported alone. */
export async function importFilm(context: Context, { id, livePhotoVideoId }: Asset): Promise<void> {
  const { deps, ledger, library, reporter } = context;
  const assetId = ledger.find('resource', id)?.target;
  if (livePhotoVideoId == null || assetId === undefined) return;
  if (ledger.find('film', livePhotoVideoId) !== undefined) return;
  const film = library.assets.get(livePhotoVideoId);
  if (film === undefined)
    return reporter.leaveOut('film', id, sentence('is not among the files of the account'));
  try {
    const received = await receiveOriginal(context, film);
    try {
      await stageFile(deps.storage, received);
      await deps.db.transaction().execute(async (tx) => {
        await attachFilm(tx, deps, assetId, received);
        await ledger.record(tx, 'film', film.id, assetId);
      });
    } finally {
      await discard(received.path);
    }
    reporter.count('films');
  } catch (error) {
    if (!(error instanceof FileFailure)) throw error;
    reporter.leaveOut('film', id, sentenceOfError(error));
  }
}
