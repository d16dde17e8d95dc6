import type { Asset } from '@vitrine/contract/assets';
import type { Post } from '@vitrine/contract/posts';
import { createContext } from 'svelte';

/** The lists that were looked at last, so that the viewer goes on from one entry to the next. */
export interface Trail {
  posts: readonly Post[];
  assets: readonly Asset[];
  /** The asset that the viewer was closed on, for the page that shows it next. */
  shown: string | undefined;
}

export const [getTrail, setTrail] = createContext<Trail>();
