import type { SessionUser } from '@vitrine/contract/identity';
import type { BroughtAnswers } from '#lib/first-answers.ts';

/** Returns the addresses that the page has loaded, which the worker caches. */
function loadedAddresses(): string[] {
  return performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${location.origin}/`));
}

/**
 * Registers the service worker (APP-4) and tells it who is signed in. Calls `onUpdate` when a new version is waiting,
 * with a function that activates it and reloads the page.
 */
export async function startApp(
  user: SessionUser | null,
  brought: BroughtAnswers['all'],
  onUpdate: (use: () => void) => void,
): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  const registration = await serviceWorker.register('/service-worker.js');
  const announce = () => {
    const { waiting } = registration;
    // The first version takes over by itself.
    if (waiting === null || serviceWorker.controller === null) return;
    onUpdate(() => {
      serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
      waiting.postMessage({ type: 'update' });
    });
  };
  announce();
  registration.addEventListener('updatefound', () => {
    const { installing } = registration;
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'installed') announce();
    });
  });
  const { active } = await serviceWorker.ready;
  const account = user === null || user.impersonated_by !== null ? null : user.ref;
  active?.postMessage({ type: 'loaded', addresses: loadedAddresses(), brought, account });
}
