import { type ArchiveProgress, cancelArchive, getArchiveProgress } from '@vitrine/contract/archives';
import { sql } from 'kysely';
import { ownArchives } from '../../access/archives.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';

/** Milliseconds between two reports of a download. */
const REPORT_MS = 500;
/** Without a report for this long, the process that packs has ended. */
const SILENT = '15 seconds';

/** How many files of an archive are ready, and how many of them were left out. */
export interface Counts {
  readonly made: number;
  readonly leftOut: number;
}

type Outcome = 'done' | 'stopped';

/** Stores how far a download is; returns whether the archive still exists. */
async function report(db: Database, id: string, { made, leftOut }: Counts, outcome: Outcome | null) {
  const { numUpdatedRows } = await db
    .updateTable('archives')
    .set({ made_count: made, left_out_count: leftOut, reported_at: sql`now()`, outcome })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Reports how far a download is until it ends, and calls `onRemoved` when its archive was removed meanwhile (ARCHIVE-8). A
 * report that fails is made up for by the next one.
 */
export function reportProgress(db: Database, id: string, counts: () => Counts, onRemoved: () => void) {
  let writing: Promise<void> | null = null;
  const look = () => {
    writing ??= report(db, id, counts(), null)
      .then(
        (isThere) => {
          if (!isThere) onRemoved();
        },
        () => {},
      )
      .finally(() => {
        writing = null;
      });
  };
  look();
  const timer = setInterval(look, REPORT_MS).unref();
  return async function end(outcome: Outcome): Promise<void> {
    clearInterval(timer);
    await writing;
    await report(db, id, counts(), outcome).catch(() => {});
  };
}

/** `GET /archives/{id}/progress` (ARCHIVE-8). */
export const progress = handle(getArchiveProgress, async ({ db }, { caller, params }) => {
  const { rows } = await sql<ArchiveProgress>`
    select z.id, z.made_count as made, z.left_out_count as left_out,
      (select count(*) from archive_files f where f.archive_id = z.id and f.name is not null) as files,
      case when z.reported_at is null then 'prepared' when z.outcome is not null then z.outcome
        when z.reported_at < now() - ${SILENT}::interval then 'stopped' else 'running' end as state
    from archives z where z.id = ${params.id} and ${ownArchives(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return { status: 200, body: row };
});

/** `DELETE /archives/{id}`: the process that packs it notices with its next report. */
export const cancel = handle(cancelArchive, async ({ db }, { caller, params }) => {
  const { rows } = await sql<{ id: string }>`
    delete from archives z where z.id = ${params.id} and ${ownArchives(caller)} returning z.id`.execute(db);
  if (rows.length === 0) throw notFound();
  return { status: 204 };
});
