import {
  type ExtractionFailure,
  listExtractionFailures,
  retryExtraction,
} from '@vitrine/contract/extraction';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { sayStored } from '../../platform/language/sentence.ts';
import { enqueueExtract } from '../assets/decoding-jobs.ts';

interface FailureRow extends ExtractionFailure {
  id: string;
}

/** Lists files that could not be read, with one asset of each that the caller may see. */
export const list = handle(listExtractionFailures, async ({ db }, { caller, http, query }) => {
  const page = newestFirst(query, 'm.extracted_at', 'm.id');
  const { rows } = await sql<FailureRow>`
    select m.id, m.hash, m.error as reason, m.extracted_at as failed_at, shown.id as asset_id, shown.file_name
    from file_metadata m left join lateral (
      select a.id, a.file_name from assets a where a.file_hash = m.hash and ${shownAssets(caller)}
      order by a.created_at, a.id limit 1) shown on true
    where m.error is not null and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.failed_at, id: row.id }));
  const language = readerLanguage(caller, http);
  const items = cut.rows.map(({ id: _, reason, ...failure }) => ({
    ...failure,
    reason: sayStored(language, reason),
  }));
  return { status: 200, body: { items, next_cursor: cut.next } };
});

/** Enqueues reading a file again that could not be read. */
export const retry = handle(retryExtraction, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const failed = await tx
      .selectFrom('file_metadata')
      .select('hash')
      .where('hash', '=', params.hash)
      .where('error', 'is not', null)
      .executeTakeFirst();
    if (failed === undefined) throw notFound();
    await enqueueExtract(tx, { hash: params.hash, asset: null, ownerRef: caller.ref });
    await recordEvent(tx, caller, { event: 'extraction.retried', metadata: { hash: params.hash } });
  });
  return { status: 204 };
});
