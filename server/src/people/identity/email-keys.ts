import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';

/** Returns the form in which an e-mail address is compared (NAME-7); null without an address. */
export function keyOfEmail(email: string | null | undefined): string | null {
  return email == null ? null : foldName(email.trim());
}

/**
 * Whether an account, named by `alias`, has an e-mail in any spelling. A registration that is not confirmed has none,
 * because everybody may register with the address of others (REGISTER-3).
 */
export function hasEmail(alias: string, email: string | null): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`(${column('email_key')} = ${keyOfEmail(email)}
    and (${column('status')} <> 'pending' or ${column('registration')} is distinct from 'unverified'))`;
}
