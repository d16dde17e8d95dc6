import type { Post } from '@vitrine/contract/posts';
import { createContext } from 'svelte';

/** The post that is being saved to collections; undefined while none is. One dialog serves every page. */
export interface Saving {
  post: Post | undefined;
}

export const [getSaving, setSaving] = createContext<Saving>();

/** Nothing is being saved at first. */
export function createSaving(): Saving {
  let post = $state.raw<Post>();
  return {
    get post() {
      return post;
    },
    set post(next) {
      post = next;
    },
  };
}
