import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** Reads the files of a stack that the user may see, the top one first. */
export function stackQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: ['stack', id],
    queryFn: ({ signal }) => client.call('getStack', { params: { id }, signal }),
  });
}

/** Invalidates lists of files, the open file, and the files of its stack. */
async function forgetStacks({ queries }: Service): Promise<void> {
  await Promise.all(
    ['assets', 'asset', 'stack'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
  );
}

/** Creates a stack of files, with the first one on top. */
export async function stackFiles(service: Service, ids: readonly string[]): Promise<void> {
  await service.client.call('createStack', { body: { asset_ids: [...ids] } });
  await forgetStacks(service);
}

/** Puts a file on top of its stack. */
export async function chooseTop(service: Service, stackId: string, assetId: string): Promise<void> {
  await service.client.call('setStackTop', { params: { id: stackId }, body: { asset_id: assetId } });
  await forgetStacks(service);
}

/** Deletes stacks, but not their files. */
export async function unstack(service: Service, ids: readonly string[]): Promise<void> {
  try {
    for (const id of ids) await service.client.call('deleteStack', { params: { id } });
  } finally {
    await forgetStacks(service);
  }
}
