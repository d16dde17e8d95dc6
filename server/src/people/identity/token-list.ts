import { createToken, deleteToken, listTokens, type Token } from '@vitrine/contract/tokens';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { newAccessToken } from './access-tokens.ts';
import { hashToken } from './sessions.ts';

/** A generous limit that keeps accounts from filling the table. */
const MOST_TOKENS = 100;

const columns = ['id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used_at'] as const;

export const tokens = handle(listTokens, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'created_at', 'id');
  const { rows } = await sql<Token>`
    select ${sql.join(columns.map((column) => sql.ref(column)))} from access_tokens
    where user_ref = ${caller.ref} and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

/**
 * TOKEN-2: returns the token once. Only a session creates tokens (the contract's scope), and only for its own account.
 */
export const mint = handle(createToken, async ({ db }, { caller, body }) => {
  const expiresAt = body.expires_at ?? null;
  checkInFuture('expires_at', expiresAt);
  const token = newAccessToken();
  const row = await db.transaction().execute(async (tx) => {
    // One at a time: concurrent calls could otherwise both pass the limit.
    await tx.selectFrom('users').where('ref', '=', caller.ref).forNoKeyUpdate().execute();
    const { rows } = await sql<Token>`
      insert into access_tokens (user_ref, name, token_hash, scopes, expires_at)
      select ${caller.ref}, ${body.name}, ${hashToken(token)}, ${body.scopes}::text[], ${expiresAt}::timestamptz
      where (select count(*) from access_tokens
        where user_ref = ${caller.ref} and (expires_at is null or expires_at > now())) < ${MOST_TOKENS}
      returning ${sql.join(columns.map((column) => sql.ref(column)))}`.execute(tx);
    const made = rows[0];
    if (made === undefined) throw refuse('too-many-tokens', { max: MOST_TOKENS });
    await recordEvent(tx, caller, {
      event: 'auth.token.created',
      subjectUserRef: caller.ref,
      target: { kind: 'token', id: made.id },
      metadata: { name: body.name, scopes: body.scopes, expires_at: expiresAt },
    });
    return made;
  });
  return { status: 201, body: { ...row, token } };
});

export const revokeToken = handle(deleteToken, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('access_tokens')
      .where('id', '=', params.id)
      .where('user_ref', '=', caller.ref)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, caller, {
      event: 'auth.token.deleted',
      subjectUserRef: caller.ref,
      target: { kind: 'token', id: params.id },
    });
  });
  return { status: 204 };
});
