/** The lock that the service worker holds while it sends files. */
export const sendingLock = 'vitrine-sending';

/** The name under which browsers wake the service worker to send files. */
export const uploadsTag = 'uploads';

/**
 * Asks the browser to wake the service worker when there is a connection, also after the last page was closed (APP-9).
 * Browsers without Background Sync continue when a page opens.
 */
export async function askToContinue(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  // TypeScript does not know Background Sync.
  const { sync } = (registration ?? {}) as { sync?: { register(tag: string): Promise<void> } };
  await sync?.register(uploadsTag).catch(() => undefined);
}

/** Resolves when the service worker sends nothing. */
export async function untilNotSending(): Promise<void> {
  await navigator.locks?.request(sendingLock, () => undefined);
}
