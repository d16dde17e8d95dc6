import type { Batch } from '@vitrine/contract/batches';

/** The kinds of things that lists of files and posts change. */
export type Subject = Exclude<Batch['subject'], 'user'>;

export const nounsOf: Readonly<Record<Batch['subject'], readonly [one: string, many: string]>> = {
  asset: ['file', 'files'],
  post: ['post', 'posts'],
  user: ['account', 'accounts'],
};
