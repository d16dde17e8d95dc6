import { createScimToken, deleteScimToken, listScimTokens, type ScimToken } from '@vitrine/contract/scim';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { findProvider } from '../identity/provider-registry.ts';
import { hashToken } from '../identity/sessions.ts';
import { checkMapping } from '../single-sign-on/administer.ts';
import { newScimToken } from './directory.ts';

const MOST_TOKENS = 20;

export const list = handle(listScimTokens, async (deps, { params, query }) => {
  if ((await findProvider(deps, params.name)) === null) throw notFound();
  const page = newestFirst(query, 'created_at', 'id');
  const { rows } = await sql<ScimToken>`
    select id, name, created_at, expires_at, last_used_at from scim_tokens
    where provider = ${params.name} and ${page.after} ${page.order}`.execute(deps.db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

/** SCIM-1: returns the token once. Its holder can give what the mapping of the provider gives, so the caller must, too. */
export const create = handle(createScimToken, async (deps, { caller, params, body }) => {
  const expiresAt = body.expires_at ?? null;
  checkInFuture('expires_at', expiresAt);
  const token = newScimToken();
  const row = await deps.db.transaction().execute(async (tx) => {
    await takeLock(tx, 'administrators');
    const provider = await findProvider({ ...deps, db: tx }, params.name);
    if (provider === null) throw notFound();
    await checkMapping(tx, caller, provider.settings);
    const { rows } = await sql<ScimToken>`
      insert into scim_tokens (provider, name, token_hash, expires_at)
      select ${params.name}, ${body.name}, ${hashToken(token)}, ${expiresAt}::timestamptz
      where (select count(*) from scim_tokens where provider = ${params.name}) < ${MOST_TOKENS}
      returning id, name, created_at, expires_at, last_used_at`.execute(tx);
    const made = rows[0];
    if (made === undefined) throw refuse('too-many-directory-tokens', { max: MOST_TOKENS });
    await recordEvent(tx, caller, {
      event: 'scim.token.created',
      target: { kind: 'token', id: made.id },
      metadata: { provider: params.name, name: body.name, expires_at: expiresAt },
    });
    return made;
  });
  return { status: 201, body: { ...row, token } };
});

export const remove = handle(deleteScimToken, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const removed = await tx
      .deleteFrom('scim_tokens')
      .where('id', '=', params.id)
      .where('provider', '=', params.name)
      .returning('name')
      .executeTakeFirst();
    if (removed === undefined) throw notFound();
    await recordEvent(tx, caller, {
      event: 'scim.token.removed',
      target: { kind: 'token', id: params.id },
      metadata: { provider: params.name, name: removed.name },
    });
  });
  return { status: 204 };
});
