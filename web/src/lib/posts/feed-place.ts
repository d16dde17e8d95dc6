import { createContext } from 'svelte';
import type { FeedChoice } from './feed-choice.ts';

/** The reader's position in the feed, kept while the app is open, so that returning restores it. */
export interface FeedPlace {
  /** The last width of the sheet in CSS pixels, so that rows can be laid out before they are measured. */
  width: number;
  /** The last opened post, which gets the focus on return. */
  openedPost: string | undefined;
  /** Whether the previous page was the feed, so that leaving the post goes back in history. */
  fromFeed: boolean;
  /** The choice of that feed. */
  choice: FeedChoice;
}

export const [getFeedPlace, setFeedPlace] = createContext<FeedPlace>();
