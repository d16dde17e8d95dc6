import { PreviewRung } from '@vitrine/contract/previews';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { readSetting, writeSetting } from '../../../core/settings.ts';
import { defaultLadder, type Rung } from '../../../media/ladder.ts';
import type { Listener } from '../../../platform/database/listen.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { takeLock } from '../../../platform/database/take-lock.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';

const stored = compileLater(
  Type.Object({ version: Type.Integer({ minimum: 1 }), variants: Type.Array(PreviewRung, { minItems: 1 }) }),
);

/** A preview ladder; its version increases with every change. */
export interface Ladder {
  version: number;
  rungs: readonly Rung[];
}

/** The default ladder (MEDIA-2). */
const usual: Ladder = { version: 1, rungs: defaultLadder };

/** The current ladder. */
export async function readLadder(db: Database): Promise<Ladder> {
  const value = await readSetting(db, 'previews');
  // The comparison comes first, because the check loads the schema compiler, which slows the start.
  if (value === null || !stored().Check(value)) return usual;
  const rungs = value.variants.map(({ max_dim, ...rung }) => ({ ...rung, maxDim: max_dim }));
  return { version: value.version, rungs };
}

const CHANNEL = 'preview_ladder';

/** Stores a ladder under a new version and makes every process reload it, in the caller's transaction. */
export async function writeLadder(tx: Tx, rungs: readonly Rung[]): Promise<Ladder> {
  // Concurrent changes would otherwise get the same version.
  await takeLock(tx, 'previewLadder');
  const version = (await readLadder(tx)).version + 1;
  const variants = rungs.map(({ maxDim, ...rung }) => ({ ...rung, max_dim: maxDim }));
  await writeSetting(tx, 'previews', { version, variants });
  await sql`select pg_notify(${CHANNEL}, '')`.execute(tx);
  return { version, rungs };
}

/** Returns this process's cached ladder, which follows a change within a second. */
export interface LadderInUse {
  current(): Ladder;
}

/** Loads the ladder, and reloads it whenever a process changes it; without a listener it stays unchanged. */
export async function followLadder(db: Database, listener: Listener | null): Promise<LadderInUse> {
  let ladder = await readLadder(db);
  listener?.subscribe(CHANNEL, () => {
    readLadder(db).then(
      (read) => {
        ladder = read;
      },
      // The connection is lost; the listener calls again on reconnecting.
      () => {},
    );
  });
  return { current: () => ladder };
}
