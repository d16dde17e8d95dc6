import type { Comment } from '@vitrine/contract/comments';
import { createContext } from 'svelte';
import type { Annotated } from './mark.ts';

/** How a list of comments shows the places of annotations. */
export interface Places {
  /** Whether the list is the panel beside the file itself, so that no picture of the place is needed. */
  readonly isBesideFile: boolean;
  /** Shows the place in the viewer; undefined if the file cannot be opened. */
  opener(comment: Annotated<Comment>): (() => void) | undefined;
  /** The number of an annotation on its file; undefined where numbers are not shown. */
  numberOf(comment: Comment): number | undefined;
}

export const [getPlaces, setPlaces] = createContext<Places>();
