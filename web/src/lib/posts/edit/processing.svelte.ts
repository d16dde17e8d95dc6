import { createQuery } from '@tanstack/svelte-query';
import { untrack } from 'svelte';
import { pendingQuery } from '#lib/posts/queries.ts';
import type { Service } from '#lib/service.ts';
import type { PostForm } from './post-form.svelte.ts';

/** Shows the pictures of a form once they are processed; asks for a dozen at a time. */
export function showProcessed(service: Service, form: PostForm): void {
  const pending = $derived(
    form.members
      .flatMap((member) =>
        !member.restricted && member.asset.processing_status === 'pending' ? [member.asset_id] : [],
      )
      .slice(0, 12)
      .join(' '),
  );
  const making = createQuery(() => pendingQuery(service, pending === '' ? [] : pending.split(' ')));
  $effect(() => {
    const ready = making.data?.filter((asset) => asset.processing_status !== 'pending') ?? [];
    if (ready.length > 0) untrack(() => form.learn(ready));
  });
}
