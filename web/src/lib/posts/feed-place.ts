import { createContext } from 'svelte';
import type { FeedChoice } from './feed-choice.ts';

/** Where the reader was in the feed, kept while the app is open, so that coming back finds the same place. */
export interface FeedPlace {
  /** Width of the sheet in CSS pixels when last shown: rows can be laid out before the first measure. */
  width: number;
  /** The post opened last, which takes the focus on coming back. */
  openedPost: string | undefined;
  /** Whether the page before the post was the feed, so that leaving is going back. */
  fromFeed: boolean;
  /** Which feed it was. */
  choice: FeedChoice;
}

export const [getFeedPlace, setFeedPlace] = createContext<FeedPlace>();
