/** What every part of the product must know of a visibility of posts and collections (POST-2, COLLECTION-1). */
interface VisibilityFacts {
  /**
   * For whom it opens an object besides its owner and administrators: for anonymous callers and accounts, for every
   * account, for `some` accounts, depending on the reader, or for no one.
   */
  readonly reach: 'visitors' | 'accounts' | 'some' | 'none';
  /**
   * FED-1: the visibility that peers receive, one that all versions of the protocol know. Null if objects of this
   * visibility are never shared with peers.
   */
  readonly toPeers: 'public' | 'org-only' | 'followers' | 'explicit-share' | null;
}

/**
 * The visibilities, in the order of the OpenAPI document. CONTRIBUTING says what a new one needs besides a line here. The web app
 * reads this, so the schema is in `values.ts`: no schema reaches the browser.
 */
export const visibilities = {
  public: { reach: 'visitors', toPeers: 'public' },
  private: { reach: 'none', toPeers: null },
  'org-only': { reach: 'accounts', toPeers: 'org-only' },
  followers: { reach: 'some', toPeers: 'followers' },
  'explicit-share': { reach: 'some', toPeers: 'explicit-share' },
} as const satisfies Readonly<Record<string, VisibilityFacts>>;

export type Visibility = keyof typeof visibilities;
export type Reach = VisibilityFacts['reach'];

/** The visibilities with this reach. */
export type VisibilityReaching<R extends Reach> = {
  [V in Visibility]: (typeof visibilities)[V]['reach'] extends R ? V : never;
}[Visibility];

/** The names of the visibilities. The cast restores the type that `Object.keys` loses. */
export const visibilityNames = Object.keys(visibilities) as readonly Visibility[];
