/** What a dialog needs to know of the request it sends. */
export interface Act {
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Forgets how it ended the last time. */
  reset(): void;
}
