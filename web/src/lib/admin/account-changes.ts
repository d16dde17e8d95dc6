import type { BodyOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { AdminUser } from '@vitrine/contract/users';

type Change = BodyOf<Operations['updateAdminUser']>;

/** What the form has for an account; absent properties stay as they are. */
interface Given {
  readonly display_name: string;
  readonly fullname?: string;
  readonly email?: string;
  readonly language: string;
  /** Absent if it stays; null for the quota of the library. */
  readonly quota_bytes?: number | null;
  readonly expires_at: string | null;
}

/** Returns the changes from an account to what the form has; an emptied text is removed. */
export function accountChanges(account: AdminUser, given: Given): Change {
  const displayName = given.display_name.trim();
  const fullname = given.fullname?.trim() ?? account.fullname ?? '';
  const email = given.email?.trim() ?? account.email ?? '';
  const language = given.language.trim();
  return {
    ...(displayName === (account.own_display_name ?? '')
      ? {}
      : displayName === ''
        ? { clear_display_name: true }
        : { display_name: displayName }),
    ...(fullname === (account.fullname ?? '')
      ? {}
      : fullname === ''
        ? { clear_fullname: true }
        : { fullname }),
    ...(email === (account.email ?? '') ? {} : email === '' ? { clear_email: true } : { email }),
    ...(language === account.language ? {} : language === '' ? { clear_language: true } : { language }),
    ...(given.quota_bytes === undefined
      ? {}
      : given.quota_bytes === null
        ? { clear_quota_bytes: true }
        : { quota_bytes: given.quota_bytes }),
    ...(given.expires_at === account.expires_at
      ? {}
      : given.expires_at === null
        ? { clear_expires_at: true }
        : { expires_at: given.expires_at }),
  };
}
