import type { SessionUser } from '@vitrine/contract/identity';

const key = 'vitrine-account';

/**
 * Remembers the account that uses this browser, and first deletes what is stored for another one, whose session ended
 * elsewhere. An administrator who acts as another user remains the same account.
 */
export async function ownStorage(user: Pick<SessionUser, 'ref' | 'impersonated_by'>): Promise<void> {
  const ref = String(user.impersonated_by?.ref ?? user.ref);
  try {
    const before = localStorage.getItem(key);
    if (before === ref) return;
    if (before !== null) {
      const { forgetEverything } = await import('./forget.ts');
      await forgetEverything();
    }
    localStorage.setItem(key, ref);
  } catch {
    // A browser that stores nothing has nothing to delete.
  }
}
