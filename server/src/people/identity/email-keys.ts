import { foldName } from '@vitrine/contract/names';

/** Returns the form in which an e-mail address is compared (NAME-7); null without an address. */
export function keyOfEmail(email: string | null | undefined): string | null {
  return email == null ? null : foldName(email.trim());
}
