/** Who is impersonated in this tab, kept so that the end of it can be told from any other sign-out. */
const key = 'vitrine.acting-as';

/** Remembers the impersonated username, or forgets it. */
export function noteActing(store: Storage, username: string | null): void {
  if (username === null) store.removeItem(key);
  else store.setItem(key, username);
}

/** The username that was impersonated when the session ended; null when nobody was. */
export function actedAs(store: Storage): string | null {
  return store.getItem(key);
}
