import type { Batch } from '@vitrine/contract/batches';
import { plural } from '#lib/languages/plural.ts';
import type { Nouns } from '#lib/selection/words.ts';

/** The kinds of objects that batches of files and posts change. */
export type Subject = Exclude<Batch['subject'], 'user'>;

export const nounsOf: Readonly<Record<Batch['subject'] | 'mixed', Nouns>> = {
  asset: {
    counted: (count) => plural(count, ['# file', '# files']),
    one: 'One file',
    select: 'Select files',
    none: 'There are no files to change.',
    all: 'For all files of this list.',
  },
  post: {
    counted: (count) => plural(count, ['# post', '# posts']),
    one: 'One post',
    select: 'Select posts',
    none: 'There are no posts to change.',
    all: 'For all posts of this list.',
  },
  user: {
    counted: (count) => plural(count, ['# account', '# accounts']),
    one: 'One account',
    select: 'Select accounts',
    none: 'There are no accounts to change.',
    all: 'For all accounts of this list.',
  },
  mixed: {
    counted: (count) => plural(count, ['# item', '# items']),
    one: 'One item',
    select: 'Select items',
    none: 'There are no items to change.',
    all: 'For all items of this list.',
  },
};
