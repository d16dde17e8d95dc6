import { clear, createStore } from 'idb-keyval';
import { forgetPrivate } from './stored.ts';

/** Removes the kept files of all accounts. The databases stay, because another page may have them open. */
async function clearKeptFiles(): Promise<void> {
  const names = ((await indexedDB.databases?.()) ?? []).map(({ name }) => name ?? '');
  const kept = names.filter((name) => name.startsWith('vitrine-files-'));
  await Promise.all(kept.map((name) => clear(createStore(name, 'files'))));
}

/** Unsubscribes this browser from push messages. The service deletes its subscription with the session. */
async function endPush(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/** Deletes everything that this browser has stored for accounts: drafts, files to upload and cached responses. */
export async function forgetEverything(): Promise<void> {
  localStorage.clear();
  sessionStorage.clear();
  await Promise.allSettled([
    clearKeptFiles(),
    'caches' in window ? forgetPrivate(null) : undefined,
    endPush(),
  ]);
}
