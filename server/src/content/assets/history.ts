import { type AssetHistoryEntry, listAssetHistory } from '@vitrine/contract/asset-history';
import type { PostAuthor } from '@vitrine/contract/identity';
import { sql } from 'kysely';
import { editableAssets } from '../../access/assets.ts';
import { readableFields } from '../../access/field-values.ts';
import { identityJson } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';

interface HistoryRow extends Pick<AssetHistoryEntry, 'at' | 'what'> {
  id: string;
  who: PostAuthor | null;
  subject: PostAuthor | null;
  details: Pick<AssetHistoryEntry, 'version' | 'note' | 'properties' | 'field' | 'label' | 'count'>;
}

/** Events of the audit log that belong to the history of an asset. */
const audited = sql`values ('asset.deleted', 'deleted'), ('admin.asset.restored', 'restored'),
  ('asset.state.changed', 'state_changed')`;

/** `GET /assets/{id}/history` (ASSET-40); two statements. */
export const list = handle(listAssetHistory, async ({ db }, { caller, params: { id }, query }) => {
  const found = await sql`select from assets a where a.id = ${id} and ${editableAssets(caller)}`.execute(db);
  if (found.rows.length === 0) throw notFound();
  const page = newestFirst(query, 'x.at', 'x.id');
  const { rows } = await sql<HistoryRow>`
    select x.id, x.at, x.what, ${identityJson(caller, 'wu')} as who, ${identityJson(caller, 'su')} as subject, x.details
    from (
      select a.id, a.created_at as at, 'created' as what, a.owner_user_ref as who, null::bigint as subject,
        '{}'::json as details
      from assets a where a.id = ${id}
      union all
      select md5('version' || v.asset_id || v.number)::uuid, v.created_at, 'version_added', v.created_by_user_ref, null,
        json_build_object('version', v.number, 'note', v.note)
      from asset_versions v where v.asset_id = ${id} and v.number > 1
      union all
      select c.id, c.at, 'edited', c.actor_user_ref, null, json_build_object('properties', c.properties)
      from asset_changes c where c.asset_id = ${id}
      union all
      select h.id, h.at, 'field_changed', h.actor_user_ref, null,
        json_build_object('field', json_build_object('id', d.id, 'title', d.label))
      from field_value_history h join fields d on d.id = h.field_id join assets a on a.id = h.subject_id
      where h.subject_kind = 'asset' and h.subject_id = ${id} and ${readableFields(caller, 'asset')}
      union all
      select e.id, e.occurred_at, named.what, e.actor_user_ref, null, '{}'
      from audit_events e join (${audited}) named (event, what) on named.event = e.event
      where e.target_kind = 'asset' and e.target_id = ${id}
      union all
      select md5(s.asset_id::text || s.user_ref)::uuid, s.created_at, 'shared', s.shared_by_user_ref, s.user_ref, '{}'
      from asset_shares s where s.asset_id = ${id}
      union all
      select l.id, l.created_at, 'link_created', l.created_by_user_ref, null, json_build_object('label', l.label)
      from share_links l where l.asset_id = ${id}
      union all
      select l.id, l.revoked_at, 'link_revoked', null, null, json_build_object('label', l.label)
      from share_links l where l.asset_id = ${id} and l.revoked_at is not null
      union all
      select d.id, d.last_downloaded_at, 'downloaded', d.user_ref, null, json_build_object('count', d.download_count)
      from asset_downloads d where d.asset_id = ${id}
      union all
      select md5('view' || f.id)::uuid, f.last_viewed_at, 'viewed_through_link', null, null,
        json_build_object('label', l.label, 'count', f.view_count)
      from share_link_files f join share_links l on l.id = f.link_id
      where f.asset_id = ${id} and f.last_viewed_at is not null
      union all
      select md5('download' || f.id)::uuid, f.last_downloaded_at, 'downloaded_through_link', null, null,
        json_build_object('label', l.label, 'count', f.download_count)
      from share_link_files f join share_links l on l.id = f.link_id
      where f.asset_id = ${id} and f.last_downloaded_at is not null
    ) x left join users wu on wu.ref = x.who left join users su on su.ref = x.subject
    where ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.at, id: row.id }));
  const items = cut.rows.map(
    ({ at, what, who, subject, details }): AssetHistoryEntry => ({
      at,
      ...(who === null ? {} : { who }),
      what,
      ...details,
      ...(subject === null ? {} : { subject }),
    }),
  );
  return { status: 200, body: { items, next_cursor: cut.next } };
});
