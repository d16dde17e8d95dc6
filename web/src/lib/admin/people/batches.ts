import { queryOptions } from '@tanstack/svelte-query';
import type { UserAction, UserActionKind, UserBatchPreview } from '@vitrine/contract/user-batches';
import type { AccountFilter } from '#lib/admin/status.ts';
import type { Service } from '#lib/service.ts';

/** The accounts that a batch changes: named, or all matches of the list. */
export type AccountTarget = { readonly ids: readonly number[] } | { readonly query: AccountFilter };

/** What the menu and the dialog call each action. */
export const actionLabels: Readonly<Record<UserActionKind, string>> = {
  set_status: 'Status',
  set_role: 'Role',
  add_to_team: 'Add to a team',
  remove_from_team: 'Remove from a team',
  set_expiry: 'Expiry',
  end_sessions: 'Sign out everywhere',
};

export const actionKinds: readonly UserActionKind[] = [
  'set_status',
  'set_role',
  'add_to_team',
  'remove_from_team',
  'set_expiry',
  'end_sessions',
];

function send(
  { client }: Service,
  target: AccountTarget,
  { action, isDryRun }: { action: UserAction; isDryRun: boolean },
  signal?: AbortSignal,
) {
  const chosen = 'ids' in target ? { ids: [...target.ids] } : { query: target.query };
  const body = { ...chosen, action, dry_run: isDryRun };
  return client.call('batchUsers', { body, ...(signal === undefined ? {} : { signal }) });
}

/** Asks what an action would do. Targets are told apart by `number`, because they may name thousands of accounts. */
export function accountPreviewQuery(
  service: Service,
  number: number,
  target: AccountTarget,
  action: UserAction | undefined,
) {
  return queryOptions<UserBatchPreview>({
    queryKey: ['account-batch-preview', number, action],
    enabled: action !== undefined,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }) => {
      if (action === undefined) throw new Error('there is no action to preview');
      const answer = await send(service, target, { action, isDryRun: true }, signal);
      if ('job_id' in answer) throw new Error('a dry run started a batch');
      return answer;
    },
  });
}

/** Starts a batch; returns its id. Rejects with CallError. */
export async function startAccountBatch(
  service: Service,
  target: AccountTarget,
  action: UserAction,
): Promise<string> {
  const answer = await send(service, target, { action, isDryRun: false });
  if (!('job_id' in answer)) throw new Error('a batch was only previewed');
  return answer.job_id;
}
