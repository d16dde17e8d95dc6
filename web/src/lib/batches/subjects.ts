import type { Batch } from '@vitrine/contract/batches';

/** The kinds of things that batches change. */
export type Subject = Batch['subject'];

export const nounsOf: Readonly<Record<Subject, readonly [one: string, many: string]>> = {
  asset: ['file', 'files'],
  post: ['post', 'posts'],
};
