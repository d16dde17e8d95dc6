import { stageFile, storeFile } from '../../content/assets/insert.ts';
import { discard, type Received } from '../../content/assets/receive.ts';
import { lockVersioned, replaceFile } from '../../content/versions/replace.ts';
import { keysOf } from '../../media/ladder.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { ImportTools } from './tools.ts';

/** A file of the earlier system: of a resource, or an alternative one. */
export interface FileKey {
  kind: 'original' | 'alternative-file';
  ref: number | string;
}

/** The present bytes of a file of the earlier system. */
export interface FileToBring {
  fileName: string;
  /** Differs if the bytes may have changed. */
  mark: string;
  receive(): Promise<Received>;
}

/** Records which bytes were imported, so that a later run recognises what has changed on either side. */
export async function recordFile(
  tx: Tx,
  { ledger }: Pick<ImportTools, 'ledger'>,
  { kind, ref }: FileKey,
  { hash, mark }: { hash: string; mark: string },
): Promise<void> {
  await ledger.record(tx, kind, ref, hash, mark);
}

/** What became of a file whose bytes have changed there. */
type Outcome = 'added' | 'changed-here' | 'other-kind' | 'gone';

/** Makes received bytes the next version, if the file here is still the one that was imported. */
async function addVersion(
  tools: ImportTools,
  key: FileKey,
  assetId: string,
  { received, before, mark, fileName }: { received: Received; before: string } & Omit<FileToBring, 'receive'>,
): Promise<Outcome> {
  const { deps, owner, ledger, source } = tools;
  const { hash, mime } = received;
  await stageFile(deps.storage, received);
  return deps.db.transaction().execute(async (tx) => {
    await storeFile(tx, deps.storage, received);
    const asset = await lockVersioned(tx, owner, assetId);
    // A text stands for a file that was missing.
    const wasMissing = ledger.find(key.kind, key.ref)?.fingerprint === '';
    if (asset.file_hash !== before) return 'changed-here';
    if (!wasMissing && kindOf(asset.mime) !== kindOf(mime)) return 'other-kind';
    const note = `Changed in ${source}`;
    await replaceFile(
      tx,
      owner,
      asset,
      { hash, mime, fileName, note },
      {
        ladderKeys: keysOf(deps.ladder),
        happened: { event: 'asset.version.added' },
        ofAnyKind: wasMissing,
      },
    );
    await recordFile(tx, tools, key, { hash, mark });
    return 'added';
  });
}

const reasonsFor = (source: string) => ({
  'changed-here': sentence('has changed in {source} and here; the file here stays', { source }),
  'other-kind': sentence('was replaced by a file of another kind; the file here stays'),
  gone: sentence('has changed in {source}, and its asset was deleted here', { source }),
});

/** Brings the bytes of a file that has changed since an earlier run as a new version (IMPORT-9). */
export async function bringVersion(
  tools: ImportTools,
  key: FileKey,
  assetId: string,
  { mark, fileName, receive }: FileToBring,
): Promise<void> {
  const { deps, ledger, reporter, source } = tools;
  const before = ledger.find(key.kind, key.ref);
  if (before === undefined || before.fingerprint === mark) return;
  const received = await receive();
  try {
    if (received.hash === before.target) {
      await deps.db.transaction().execute((tx) => recordFile(tx, tools, key, { ...received, mark }));
      return;
    }
    const outcome = await addVersion(tools, key, assetId, {
      received,
      before: before.target,
      mark,
      fileName,
    }).catch((error: unknown): Outcome => {
      if (error instanceof Refusal && error.status === 404) return 'gone';
      throw error;
    });
    if (outcome === 'added') reporter.count('versions_added');
    else
      reporter.leaveOut(
        key.kind === 'original' ? 'file' : 'alternative',
        key.ref,
        reasonsFor(source)[outcome],
      );
  } finally {
    await discard(received.path);
  }
}
