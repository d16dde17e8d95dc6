import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { recordEvent } from '../../../people/audit/record.ts';
import { keyOfEmail } from '../../../people/identity/email-keys.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { takeLock } from '../../../platform/database/take-lock.ts';
import type { LegacyUser } from './legacy-user.ts';

export interface Candidate {
  place: string;
  user: LegacyUser;
  roleId: string;
}

/** The outcome for a candidate; `sameAs` is the place of the earlier imported row with the same name. */
export type ImportOutcome = { kind: 'imported' } | { kind: 'kept' } | { kind: 'repeated'; sameAs: string };

/** Folded names (NAME-1) with the place of their first row; one map for the whole import. */
export type SeenNames = Map<string, string>;

/** Returns those of the folded names that accounts have. */
async function findTaken(tx: Tx, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ username_key: string }>`
    select username_key from users where username_key = any(${keys}::text[])`.execute(tx);
  return new Set(rows.map(({ username_key }) => username_key));
}

/** Inserts accounts and returns their folded names. Does not change accounts that exist already. */
async function insertUsers(tx: Tx, candidates: readonly Candidate[]): Promise<Set<string>> {
  const rows = candidates.map(({ user, roleId }) => ({
    username: user.username,
    username_key: foldName(user.username),
    password_hash: user.passwordHash,
    role_id: roleId,
    status: user.status,
    fullname: user.fullname,
    email: user.email,
    email_key: keyOfEmail(user.email),
    preferences: user.language === null ? {} : { language: user.language },
    created_at: user.createdAt,
    expires_at: user.expiresAt,
  }));
  const inserted = await sql<{ username_key: string }>`
    insert into users (username, username_key, password_hash, role_id, status, fullname, email, email_key,
      preferences, created_at, expires_at)
    select username, username_key, password_hash, role_id, status, fullname, email, email_key,
      preferences, coalesce(created_at, now()), expires_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (username text, username_key text, password_hash text, role_id uuid,
      status text, fullname text, email text, email_key text, preferences jsonb, created_at timestamptz, expires_at timestamptz)
    on conflict do nothing
    returning username_key`.execute(tx);
  return new Set(inserted.rows.map(({ username_key }) => username_key));
}

/**
 * Imports a batch in one transaction and returns the outcome for each candidate, in their order. A dry run returns
 * the same outcomes and writes nothing.
 */
export async function storeBatch(
  db: Database,
  candidates: readonly Candidate[],
  options: { seen: SeenNames; source: 'csv' | 'mysql'; dryRun: boolean },
): Promise<ImportOutcome[]> {
  const { seen, source, dryRun } = options;
  return db.transaction().execute(async (tx) => {
    await takeLock(tx, 'userImport');
    const keys = candidates.map(({ user }) => foldName(user.username));
    const taken = await findTaken(tx, keys);
    const fresh: Candidate[] = [];
    const outcomes = candidates.map((candidate, at): ImportOutcome & { folded: string } => {
      const folded = keys[at] ?? foldName(candidate.user.username);
      const sameAs = seen.get(folded);
      if (sameAs !== undefined) return { kind: 'repeated', sameAs, folded };
      seen.set(folded, candidate.place);
      if (taken.has(folded)) return { kind: 'kept', folded };
      fresh.push(candidate);
      return { kind: 'imported', folded };
    });
    if (dryRun || fresh.length === 0) return outcomes;
    const inserted = await insertUsers(tx, fresh);
    // Another transaction may have taken a name since it was looked up.
    const settled = outcomes.map(
      (outcome): ImportOutcome =>
        outcome.kind === 'imported' && !inserted.has(outcome.folded) ? { kind: 'kept' } : outcome,
    );
    const kept = settled.filter((outcome) => outcome.kind === 'kept').length;
    const metadata = { source, imported: inserted.size, kept };
    if (inserted.size > 0) await recordEvent(tx, null, { event: 'users.imported', metadata });
    return settled;
  });
}
