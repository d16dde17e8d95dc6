import type { SessionUser } from '@vitrine/contract/identity';

const key = 'vitrine-account';

/**
 * Notes whose pages this browser shows, and first deletes what it has stored for another account, whose session ended
 * elsewhere. An administrator who acts as somebody stays the same account.
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
