import { createReadStream } from 'node:fs';
import { stageFile, storeFile } from '../../content/assets/insert.ts';
import { discard, type Received, receive } from '../../content/assets/receive.ts';
import { lockVersioned, replaceFile } from '../../content/versions/replace.ts';
import { keysOf } from '../../media/ladder.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import type { Context } from './context.ts';
import type { FoundFile } from './originals.ts';

/** A file of the earlier system: of a resource, or an alternative one. */
export interface FileKey {
  kind: 'original' | 'alternative-file';
  ref: number;
}

/** Records which bytes were imported, so that a later run recognises what has changed on either side. */
export async function recordFile(
  tx: Tx,
  { ledger }: Context,
  { kind, ref }: FileKey,
  { hash, mark }: { hash: string; mark: string },
): Promise<void> {
  await ledger.record(tx, kind, ref, hash, mark);
}

/** What became of a file whose bytes have changed there. */
type Outcome = 'added' | 'changed-here' | 'other-kind' | 'gone';

/** Makes received bytes the next version, if the file here is still the one that was imported. */
async function addVersion(
  context: Context,
  key: FileKey,
  assetId: string,
  { received, before, found, fileName }: { received: Received; before: string } & FileToBring,
): Promise<Outcome> {
  const { deps, owner, ledger } = context;
  const { hash, mime } = received;
  await stageFile(deps.storage, received);
  return deps.db.transaction().execute(async (tx) => {
    await storeFile(tx, deps.storage, received);
    const asset = await lockVersioned(tx, owner, assetId);
    // A text stands for a file that was missing.
    const wasMissing = ledger.find(key.kind, key.ref)?.fingerprint === '';
    if (asset.file_hash !== before) return 'changed-here';
    if (!wasMissing && kindOf(asset.mime) !== kindOf(mime)) return 'other-kind';
    const note = 'Changed in ResourceSpace';
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
    await recordFile(tx, context, key, { hash, mark: found.mark });
    return 'added';
  });
}

const reasons = {
  'changed-here': 'has changed in ResourceSpace and here; the file here stays',
  'other-kind': 'was replaced by a file of another kind; the file here stays',
  gone: 'has changed in ResourceSpace, and its asset was deleted here',
} as const;

interface FileToBring {
  found: FoundFile;
  fileName: string;
}

/** Brings the bytes of a file that has changed since an earlier run as a new version (IMPORT-9). */
export async function bringVersion(
  context: Context,
  key: FileKey,
  assetId: string,
  { found, fileName }: FileToBring,
): Promise<void> {
  const { deps, ledger, reporter } = context;
  const before = ledger.find(key.kind, key.ref);
  if (before === undefined || before.fingerprint === found.mark) return;
  const received = await receive(createReadStream(found.path), deps.storage);
  try {
    if (received.hash === before.target) {
      await deps.db
        .transaction()
        .execute((tx) => recordFile(tx, context, key, { ...received, mark: found.mark }));
      return;
    }
    const outcome = await addVersion(context, key, assetId, {
      received,
      before: before.target,
      found,
      fileName,
    }).catch((error: unknown): Outcome => {
      if (error instanceof Refusal && error.status === 404) return 'gone';
      throw error;
    });
    if (outcome === 'added') reporter.count('versions_added');
    else reporter.leaveOut(key.kind === 'original' ? 'file' : 'alternative', key.ref, reasons[outcome]);
  } finally {
    await discard(received.path);
  }
}
