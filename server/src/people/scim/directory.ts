import { CompiledQuery, sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { randomToken } from '../identity/access-tokens.ts';
import { recordUseAfter } from '../identity/credential.ts';
import { findProvider, type RedirectProvider } from '../identity/provider-registry.ts';
import { hashToken } from '../identity/sessions.ts';
import { hasAdministrator } from '../roles/last-administrator.ts';
import { ScimFault } from './fault.ts';

/** The sender of a SCIM request: the directory of a provider. */
export interface Directory {
  tokenId: string;
  provider: RedirectProvider;
}

/** Creates a token of a directory (SCIM-1): `vt_scim_` and 32 characters. Only its SHA-256 is stored. */
export function newScimToken(): string {
  return `vt_scim_${randomToken()}`;
}

const findTokenSql = `select id, provider, coalesce(last_used_at < now() - ${recordUseAfter}, true) as stale
  from scim_tokens where token_hash = $1 and (expires_at is null or expires_at > now())`;

interface TokenRow {
  id: string;
  provider: string;
  stale: boolean;
}

/** Returns the directory of a token and records the use; null for a token that is not valid (SCIM-2). */
export async function findDirectory(
  deps: Pick<Deps, 'db' | 'config' | 'secretKey'>,
  token: string | null,
): Promise<Directory | null> {
  if (token === null || !/^vt_scim_[A-Za-z0-9]{32}$/.test(token)) return null;
  const { rows } = await deps.db.executeQuery<TokenRow>(CompiledQuery.raw(findTokenSql, [hashToken(token)]));
  const [row] = rows;
  const provider = row === undefined ? null : await findProvider(deps, row.provider);
  if (row === undefined || provider === null) return null;
  if (row.stale)
    await deps.db
      .updateTable('scim_tokens')
      .set({ last_used_at: sql`now()` })
      .where('id', '=', row.id)
      .execute();
  return { tokenId: row.id, provider };
}

/**
 * Runs a change of a directory in a transaction, one at a time. Rolls it back with a 409 if no `system.admin` would
 * remain (SCIM-14).
 */
export async function provisioning<T>(db: Database, change: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await takeLock(tx, 'administrators');
    const result = await change(tx);
    if (!(await hasAdministrator(tx)))
      throw new ScimFault(409, null, 'this would leave the library without an administrator');
    return result;
  });
}
