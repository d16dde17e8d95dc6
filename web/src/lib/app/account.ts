import type { SessionUser } from '@vitrine/contract/identity';

const key = 'vitrine-account';
/** Who the pages are shown to: the account, or the user as whom it acts. */
const callerKey = 'vitrine-caller';

/**
 * Remembers the account that uses this browser, and first deletes what is stored for another one, whose session ended
 * elsewhere. An administrator who acts as another user remains the same account.
 */
export async function ownStorage(user: Pick<SessionUser, 'ref' | 'impersonated_by'>): Promise<void> {
  const ref = String(user.impersonated_by?.ref ?? user.ref);
  try {
    const before = localStorage.getItem(key);
    if (before !== null && before !== ref) {
      const { forgetEverything } = await import('./forget.ts');
      await forgetEverything();
    }
    localStorage.setItem(key, ref);
    localStorage.setItem(callerKey, String(user.ref));
  } catch {
    // A browser that stores nothing has nothing to delete.
  }
}

/**
 * Calls `onchange` when another window of this browser has become another user. The windows share a session, so this one
 * would act as that user while it shows the former.
 */
export function watchCaller(shownRef: () => number | undefined, onchange: () => void): void {
  window.addEventListener('storage', ({ key: changed, newValue }) => {
    const ref = shownRef();
    if (changed === callerKey && newValue !== null && ref !== undefined && newValue !== String(ref))
      onchange();
  });
}
