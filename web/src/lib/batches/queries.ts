import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { AssetAction, Batch, BatchPreview, PostAction } from '@vitrine/contract/batches';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';
import type { Action } from './actions.ts';
import type { Target } from './targets.ts';
import { isOver } from './words.ts';

type Answer = BatchPreview | { readonly job_id: string };

function send({ client }: Service, target: Target, action: Action, isDryRun: boolean, signal?: AbortSignal) {
  const chosen = 'ids' in target ? { ids: [...target.ids] } : { query: target.query };
  const options = signal === undefined ? {} : { signal };
  // The forms that are offered for a subject make actions of that subject.
  return target.subject === 'asset'
    ? client.call('batchAssets', {
        body: { ...chosen, action: action as AssetAction, dry_run: isDryRun },
        ...options,
      })
    : client.call('batchPosts', {
        body: { ...chosen, action: action as PostAction, dry_run: isDryRun },
        ...options,
      });
}

const isPreview = (answer: Answer): answer is BatchPreview => 'matched' in answer;

/**
 * Asks what an action would do to each target. They are told apart by `number`, because they may name thousands of ids.
 */
export function previewQuery(
  service: Service,
  number: number,
  targets: readonly Target[],
  action: Action | undefined,
) {
  return queryOptions<BatchPreview[]>({
    queryKey: ['batch-preview', number, action],
    enabled: action !== undefined,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }) => {
      if (action === undefined) throw new Error('there is no action to preview');
      const answers: Answer[] = await Promise.all(
        targets.map((target) => send(service, target, action, true, signal)),
      );
      return answers.map((answer) => {
        if (!isPreview(answer)) throw new Error('a dry run started a batch');
        return answer;
      });
    },
  });
}

/** Starts a batch; returns its id. Rejects with CallError. */
export async function startBatch(service: Service, target: Target, action: Action): Promise<string> {
  const answer: Answer = await send(service, target, action, false);
  if (isPreview(answer)) throw new Error('a batch was only previewed');
  return answer.job_id;
}

/** Milliseconds between two looks at a batch that runs. */
const lookAgain = 700;

/** Reads a batch; polls while it runs. */
export function batchQuery({ client }: Service, id: string) {
  return queryOptions<Batch>({
    queryKey: ['batch', id],
    staleTime: 0,
    queryFn: ({ signal }) => client.call('getBatch', { params: { id }, signal }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOver(data) ? false : lookAgain),
  });
}

/** Lists the batches of the last 30 days, newest first; polls while one of them runs. */
export function batchesQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['batches'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listBatches', { query: pageParams(pageParam, 20), signal }),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.items.some((batch) => !isOver(batch))) === true ? 2000 : false,
  });
}

/** Lists what a batch refused, with reasons. */
export function refusedItemsQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['batch', id, 'refused'],
    staleTime: 30_000,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listBatchItems', {
        params: { id },
        query: { ...pageParams(pageParam), outcome: 'refused' },
        signal,
      }),
  });
}

/** What shows assets, posts or their values. */
const affectedByContent = [
  'asset',
  'asset-count',
  'assets',
  'appearances',
  'batches',
  'collection',
  'collections',
  'feed',
  'field-values',
  'post',
  'search',
  'trash',
];

/** What shows accounts and the members of teams. */
const affectedByAccounts = ['admin', 'batches', 'team-members', 'teams'];

/** Reloads what a batch may have changed. */
export async function refreshAfterBatch(
  { queries }: Service,
  subject: Batch['subject'] = 'asset',
): Promise<void> {
  const affected = subject === 'user' ? affectedByAccounts : affectedByContent;
  for (const key of affected) queries.removeQueries({ queryKey: [key], type: 'inactive' });
  await Promise.all(affected.map((key) => queries.invalidateQueries({ queryKey: [key] })));
}
