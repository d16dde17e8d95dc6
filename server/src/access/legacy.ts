import type { Legacy } from '@vitrine/contract/legacy';
import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds } from './caller.ts';

/** What has an old id of its own, by the name under which imports record it. */
type LegacyKind = 'resource' | 'post' | 'collection' | 'user';

/** The old id of an imported thing, for administrators; null for other callers and other things (LEGACY-1). `id` is a column. */
export function legacyJson(caller: Caller, kind: LegacyKind, id: string): RawBuilder<Legacy | null> {
  if (!holds(caller, 'system.admin')) return sql`null::json`;
  return sql`(select json_build_object('system', li.system, 'id', li.old_id) from imported_ids li
    where li.kind = ${kind} and li.target = ${sql.ref(id)}::text order by li.imported_at, li.old_id limit 1)`;
}
