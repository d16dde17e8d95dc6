import type { Post } from '@vitrine/contract/posts';
import { createContext } from 'svelte';

/** The post for the dialog "Save to collection"; undefined while it is closed. All pages share one dialog. */
export interface Saving {
  post: Post | undefined;
}

export const [getSaving, setSaving] = createContext<Saving>();

/** Creates the state with a closed dialog. */
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
