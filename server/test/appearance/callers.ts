import { type Capability, capabilities, scopes, type TokenScope } from '@vitrine/contract/capabilities';
import { CallError } from '@vitrine/contract/client';
import { sql } from 'kysely';
import { newAccessToken } from '../../src/identity/access-tokens.ts';
import { createAccount } from '../../src/identity/accounts.ts';
import { hashToken, startSession } from '../../src/identity/sessions.ts';
import { type Visitor, visit } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';

/** A caller of an operation that requires a capability, and the outcome: `let in`, or status and error. */
export interface CallerOutcome {
  who: string;
  visitor: Visitor;
  reading: string;
  writing: string;
}

/** Returns the outcome of an operation for one caller. */
export async function outcomeOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
    return 'let in';
  } catch (error) {
    if (error instanceof CallError) return `${error.status} ${error.message}`;
    throw error;
  }
}

/** Creates an account with a session but without a password, because hashing one is slow. */
async function arrive(
  library: Library,
  username: string,
  role: 'admin' | 'member' | 'viewer',
): Promise<Account> {
  const { db, passwords } = library.deps;
  const ref = await createAccount(db, passwords, { username, password: null, role });
  if (ref === null) throw new Error(`${username} is taken`);
  const token = await startSession(db, { userRef: ref, days: 30, address: '127.0.0.1', userAgent: 'test' });
  return { ...visit(library.address, {}, token), ref, username };
}

async function grant(library: Library, account: Account, codes: readonly Capability[]): Promise<void> {
  const rows = codes.map((capability) => ({ user_ref: account.ref, capability }));
  await library.deps.db.insertInto('user_capability_grants').values(rows).execute();
}

async function bearer(library: Library, account: Account, given: readonly TokenScope[]): Promise<Visitor> {
  const token = newAccessToken();
  const row = { user_ref: account.ref, name: 'script', token_hash: hashToken(token), scopes: [...given] };
  await library.deps.db
    .insertInto('access_tokens')
    .values({ ...row, expires_at: null })
    .execute();
  return visit(library.address, { authorization: `Bearer ${token}` });
}

/** The administrator in a browser of their own, acting as the target (IMPERSONATION-1). */
async function actAs(library: Library, admin: Account, target: Account): Promise<Visitor> {
  const mask = visit(library.address, {}, admin.cookie());
  await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
  return mask;
}

/** Returns one caller for each case that a check of this capability must distinguish. */
export async function callersBefore(library: Library, capability: Capability): Promise<CallerOutcome[]> {
  const { db } = library.deps;
  const name = (who: string) => `${who}-${capability.replaceAll('.', '-')}`;
  const join = (who: string, role: 'admin' | 'member' | 'viewer' = 'viewer') =>
    arrive(library, name(who), role);
  const [admin, chief, holder, member, viewer, others, inTeam, expired, revoked] = await Promise.all([
    join('admin', 'admin'),
    join('chief'),
    join('holder'),
    join('member', 'member'),
    join('viewer'),
    join('others'),
    join('team'),
    join('expired'),
    join('revoked'),
  ]);
  await grant(library, chief, ['system.admin']);
  await grant(library, holder, [capability]);
  await grant(
    library,
    others,
    capabilities.filter((code) => code !== 'system.admin' && code !== capability),
  );
  await grant(library, revoked, [capability]);
  await db.insertInto('user_capability_revokes').values({ user_ref: revoked.ref, capability }).execute();
  const past = sql<string>`now() - interval '1 second'`;
  await db
    .insertInto('user_capability_grants')
    .values({ user_ref: expired.ref, capability, expires_at: past })
    .execute();
  const { id: team_id } = await db
    .insertInto('teams')
    .values({ slug: name('team'), name: name('team') })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('user_capability_grants')
    .values({ user_ref: inTeam.ref, capability, team_id })
    .execute();

  const same = (who: string, visitor: Visitor, told: string): CallerOutcome => ({
    who,
    visitor,
    reading: told,
    writing: told,
  });
  const missing = `403 missing capability ${capability}`;
  const narrow = scopes.filter((scope) => scope !== 'read' && scope !== 'admin');
  return [
    same('nobody', library.anonymous(), '401 sign in first'),
    same('a viewer', viewer, missing),
    same('a member', member, missing),
    same('a holder of every other capability', others, missing),
    same('a holder in one team', inTeam, missing),
    same('a holder until a moment ago', expired, missing),
    same('a holder it was revoked from', revoked, missing),
    same('a holder', holder, 'let in'),
    same('a holder of system.admin alone', chief, 'let in'),
    same('an administrator', admin, 'let in'),
    same('an administrator as a member', await actAs(library, admin, member), missing),
    same('an administrator as a holder', await actAs(library, admin, holder), 'let in'),
    same('a member’s token with every scope', await bearer(library, member, scopes), missing),
    same('a holder’s token with `admin`', await bearer(library, holder, ['admin']), 'let in'),
    {
      who: 'a holder’s token with `read`',
      visitor: await bearer(library, holder, ['read']),
      reading: 'let in',
      writing: '403 missing scope admin',
    },
    {
      who: 'a holder’s token with every scope but those',
      visitor: await bearer(library, holder, narrow),
      reading: '403 missing scope read',
      writing: '403 missing scope admin',
    },
  ];
}
