import type { Asset } from '@vitrine/contract/assets';
import type { Post } from '@vitrine/contract/posts';
import { createContext } from 'svelte';

/** The lists that were shown last, through which the viewer pages. */
export interface Trail {
  posts: readonly Post[];
  assets: readonly Asset[];
  /** The asset on which the viewer was closed, for the page that shows it next. */
  shown: string | undefined;
}

export const [getTrail, setTrail] = createContext<Trail>();
