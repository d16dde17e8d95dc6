import { createStore, del, get, set } from 'idb-keyval';

/** Files that another app shared with this one. The service worker receives them, and the page of a new post takes them. */
interface Shared {
  /** When they were shared, in milliseconds. */
  readonly at: number;
  readonly files: readonly File[];
}

/** After this time, the person who shared them has given up, for example at the sign-in. */
const keptMs = 60 * 60 * 1000;

// Named like the kept files of accounts, so that signing out deletes it, too (APP-3).
const open = () => createStore('vitrine-files-shared', 'files');
const key = 'shared';

/** Keeps shared files until a new post takes them. They replace those that nobody took. */
export async function keepShared(files: readonly File[]): Promise<void> {
  await set(key, { at: Date.now(), files } satisfies Shared, open());
}

/** Returns the shared files, each once. A browser that stores nothing has none. */
export async function takeShared(): Promise<readonly File[]> {
  try {
    const store = open();
    const shared = await get<Shared>(key, store);
    await del(key, store);
    return shared !== undefined && shared.at > Date.now() - keptMs ? shared.files : [];
  } catch {
    return [];
  }
}
