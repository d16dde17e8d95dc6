import { sql } from 'kysely';
import { sentence } from '../../platform/language/sentence.ts';
import { accountOf, type Context } from './context.ts';
import { readColumnTime } from './texts.ts';

interface RequestRow {
  ref: number;
  user: number | null;
  collection: number | null;
  created: string | null;
  status: number | null;
  comments: string | null;
  reason: string | null;
  reasonapproved: string | null;
  approved_declined_by: number | null;
  expires: string | null;
  resources: number[] | null;
}

const allRequests = `select q.*, (select json_agg(distinct x.resource) from rs_collection_resource x where x.collection = q.collection) as resources
  from rs_request q where q.ref is not null order by q.ref`;

const states = ['pending', 'granted', 'denied'] as const;

/** Imports requests, one for each resource. What an approved one opened came along with the rights of its resource. */
export async function importRequests(context: Context): Promise<void> {
  const { deps, ledger, reporter, staging } = context;
  for (const row of await staging.query<RequestRow>(allRequests)) {
    if (context.isStopped()) return;
    const requester = accountOf(context, row.user);
    const assets = (row.resources ?? []).flatMap((ref) => ledger.find('resource', ref)?.target ?? []);
    if (requester === null || assets.length === 0) {
      reporter.leaveOut(
        'request',
        row.ref,
        requester === null ? sentence('who asked is not here') : sentence('its resources are not here'),
      );
      continue;
    }
    const state = states[row.status ?? 0] ?? 'pending';
    const decided = state === 'pending' ? null : (readColumnTime(row.created) ?? null);
    const reason = (row.comments ?? '').slice(0, 1000).toWellFormed();
    if ((row.comments ?? '').length > 1000)
      reporter.change('request', row.ref, sentence('its text is longer than 1,000 characters and is cut'));
    const answer = state === 'granted' ? row.reasonapproved : row.reason;
    for (const asset of assets) {
      const key = `${row.ref}/${asset}`;
      if (ledger.find('request', key) !== undefined) continue;
      await deps.db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ id: string }>`
          insert into resource_requests (requester_user_ref, target_kind, target_id, requested_capability, reason, state, requested_at,
            decided_at, decided_by_user_ref, decision_reason)
          values (${requester}, 'asset', ${asset}, 'content.access.request', ${reason}, ${state},
            coalesce(${readColumnTime(row.created)}::timestamptz, now()), ${decided}::timestamptz,
            ${state === 'pending' ? null : accountOf(context, row.approved_declined_by)}::bigint,
            ${answer === null || answer === '' ? null : answer.slice(0, 1000).toWellFormed()})
          on conflict do nothing returning id`.execute(tx);
        await ledger.record(tx, 'request', key, rows[0]?.id ?? '');
      });
      reporter.count('requests');
    }
  }
}
