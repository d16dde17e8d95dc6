import {
  getSearchSettings,
  SearchLanguage,
  type SearchSettings,
  searchLanguages,
  updateSearchSettings,
} from '@vitrine/contract/search';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';

const compiled = compileLater(SearchLanguage);

/** The language whose stemming the search uses. */
async function readLanguage(db: Database): Promise<SearchLanguage> {
  const value = await readSetting(db, 'search_language');
  return compiled().Check(value) ? value : 'simple';
}

interface Counted {
  done: number;
  total: number;
}

/** Progress of rewriting documents in the new language; null when complete. */
async function readProgress(db: Database): Promise<Counted | null> {
  const { rows } = await sql<Counted>`
    select (value ->> 'done')::integer as done, (value ->> 'total')::integer as total
    from settings where key = 'search_rewrite' and value <> 'null'`.execute(db);
  return rows[0] ?? null;
}

async function readSettings(db: Database): Promise<SearchSettings> {
  const [language, progress] = await Promise.all([readLanguage(db), readProgress(db)]);
  return { language, languages: [...searchLanguages], progress };
}

export const showLanguage = handle(getSearchSettings, async ({ db }) => ({
  status: 200,
  body: await readSettings(db),
}));

/**
 * Starts writing words in the new language; until the job has rewritten the existing documents, both languages are
 * searched.
 */
export const changeLanguage = handle(updateSearchSettings, async ({ db }, { caller, body }) => {
  const language = body.language;
  if (language != null) {
    await db.transaction().execute(async (tx) => {
      await takeLock(tx, 'searchLanguage');
      const before = await readLanguage(tx);
      if (before === language) return;
      // Documents in a third language would be found by neither.
      if ((await readProgress(tx)) !== null) throw refuse('search-language-changing');
      await writeSetting(tx, 'search_language', language);
      const { rows } = await sql<{ total: number }>`select (select count(*) from post_documents)
        + (select count(*) from asset_documents) + (select count(*) from collection_documents) as total`.execute(
        tx,
      );
      await writeSetting(tx, 'search_rewrite', {
        id: crypto.randomUUID(),
        from: before,
        done: '0',
        total: String(rows[0]?.total ?? 0),
        kind: 'post',
        after: '00000000-0000-0000-0000-000000000000',
      });
      await recordEvent(tx, caller, { event: 'system.search.changed', metadata: { language, before } });
      await enqueue(tx, 'rewrite-documents', {}, { key: 'rewrite-documents' });
    });
  }
  return { status: 200, body: await readSettings(db) };
});
