/** Remembers who is impersonated in this tab, to distinguish the end of an impersonation from a sign-out. */
const key = 'vitrine.acting-as';

/** Stores the impersonated username; null removes it. */
export function noteActing(store: Storage, username: string | null): void {
  if (username === null) store.removeItem(key);
  else store.setItem(key, username);
}

/** Returns the username that was impersonated when the session ended, or null. */
export function actedAs(store: Storage): string | null {
  return store.getItem(key);
}
