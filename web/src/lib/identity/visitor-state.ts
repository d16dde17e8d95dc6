import type { Appearance, Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';
import type { VisitorState } from './gate.ts';

/** Asks anew who is signed in and shows it on every page. Rejects with CallError, 401 when nobody is. */
export async function readUserAnew({ client, queries }: Service): Promise<void> {
  const user = await client.call('getSessionUser');
  queries.setQueryData<VisitorState & { appearance: Appearance }>(['visitor-state'], (before) =>
    before === undefined ? undefined : { ...before, user },
  );
  await invalidate('vitrine:visitor-state');
}
