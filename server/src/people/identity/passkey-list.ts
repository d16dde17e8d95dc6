import {
  deletePasskey,
  getPasskey,
  listPasskeys,
  type Passkey,
  updatePasskey,
} from '@vitrine/contract/passkeys';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { checkCanSignIn, lockWaysToSignIn, waysToSignIn } from './ways-to-sign-in.ts';

/** PASSKEY-8: the passkeys of this account only. */
function ownPasskeys(db: Database, { ref }: SignedIn) {
  return db
    .selectFrom('passkeys')
    .select(['id', 'name', 'created_at', 'last_used_at'])
    .where('user_ref', '=', ref);
}

async function findPasskey(db: Database, caller: SignedIn, id: string): Promise<Passkey> {
  const found = await ownPasskeys(db, caller).where('id', '=', id).executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
}

export const passkeys = handle(listPasskeys, async ({ db }, { caller }) => ({
  status: 200,
  body: { items: await ownPasskeys(db, caller).orderBy('created_at').orderBy('id').execute() },
}));

export const passkey = handle(getPasskey, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await findPasskey(db, caller, params.id),
}));

export const rename = handle(updatePasskey, async ({ db }, { caller, params, body }) => {
  const name = body.name ?? null;
  const renamed = await db.transaction().execute(async (tx) => {
    const before = await findPasskey(tx, caller, params.id);
    if (name === null || name === before.name) return before;
    await tx.updateTable('passkeys').set({ name }).where('id', '=', before.id).execute();
    await recordEvent(tx, caller, {
      event: 'auth.passkey.renamed',
      subjectUserRef: caller.ref,
      metadata: { name, before: before.name },
    });
    return { ...before, name };
  });
  return { status: 200, body: renamed };
});

export const removePasskey = handle(deletePasskey, async (deps, { caller, params }) => {
  const ways = await waysToSignIn(deps);
  await deps.db.transaction().execute(async (tx) => {
    await lockWaysToSignIn(tx, caller.ref);
    const removed = await tx
      .deleteFrom('passkeys')
      .where('id', '=', params.id)
      .where('user_ref', '=', caller.ref)
      .returning('name')
      .executeTakeFirst();
    if (removed === undefined) throw notFound();
    await checkCanSignIn(tx, caller.ref, ways);
    await recordRemoval(tx, caller, caller.ref, removed.name);
  });
  return { status: 204 };
});

function recordRemoval(tx: Tx, actor: SignedIn, userRef: number, name: string): Promise<void> {
  return recordEvent(tx, actor, {
    event: 'auth.passkey.removed',
    subjectUserRef: userRef,
    metadata: { name },
  });
}

/** Removes every passkey of an account; false if it has none. */
export async function removePasskeysOf(tx: Tx, actor: SignedIn, userRef: number): Promise<boolean> {
  const removed = await tx.deleteFrom('passkeys').where('user_ref', '=', userRef).returning('name').execute();
  for (const { name } of removed) await recordRemoval(tx, actor, userRef, name);
  return removed.length > 0;
}
