import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, type JobHandler } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';

/** Documents per transaction: about a second's work. */
const CHUNK = 1000;

type Kind = 'post' | 'asset' | 'collection';

const order: readonly Kind[] = ['post', 'asset', 'collection'];
const tables = {
  post: { rows: 'posts', write: 'write_post_documents' },
  asset: { rows: 'assets', write: 'write_asset_documents' },
  collection: { rows: 'collections', write: 'write_collection_documents' },
} as const;

interface Progress {
  id: string;
  kind: Kind;
  after: string;
}

/**
 * Rewrites the next documents in the library's language and records the position, in one transaction; a killed job
 * resumes there. Returns false when nothing is left.
 */
async function rewriteSome(db: Database): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { rows } =
      await sql<Progress>`select value ->> 'id' as id, value ->> 'kind' as kind, value ->> 'after' as after
      from settings where key = 'search_rewrite' and value <> 'null' for update`.execute(tx);
    const [progress] = rows;
    if (progress === undefined) return false;
    const { rows: source, write } = tables[progress.kind];
    const found = await sql<{ ids: string[] | null }>`select array_agg(id order by id) as ids from (
      select id from ${sql.table(source)} where id > ${progress.after}::uuid order by id limit ${CHUNK}) next`.execute(
      tx,
    );
    const ids = found.rows[0]?.ids ?? [];
    const last = ids.at(-1);
    if (last === undefined) {
      const next = order[order.indexOf(progress.kind) + 1];
      await sql`update settings set updated_at = now(), value = ${
        next === undefined
          ? sql`'null'::jsonb`
          : sql`value || jsonb_build_object('kind', ${next}::text, 'after', '00000000-0000-0000-0000-000000000000')`
      } where key = 'search_rewrite'`.execute(tx);
      return next !== undefined;
    }
    await sql`select ${sql.raw(write)}(${ids}::uuid[])`.execute(tx);
    await sql`update settings set updated_at = now(), value = value || jsonb_build_object('after', ${last}::text,
      'done', (value ->> 'done')::integer + ${ids.length}::integer) where key = 'search_rewrite'`.execute(tx);
    return true;
  });
}

/** Continues rewriting documents, as after an upgrade that compares words otherwise. */
export async function resumeRewriting(db: Database): Promise<void> {
  const { rows } = await sql`select from settings where key = 'search_rewrite' and value <> 'null'`.execute(
    db,
  );
  if (rows.length > 0) await enqueue(db, 'rewrite-documents', {}, { key: 'rewrite-documents' });
}

/** Rewrites every document after a change of language, or of the form in which words are compared. */
export function rewriteDocumentsJob({ db }: Pick<Deps, 'db'>): JobHandler<'rewrite-documents'> {
  return async () => {
    while (await rewriteSome(db)) {
      // Enqueues the next step.
    }
  };
}
