import {
  type DefaultOverride,
  listDefaultOverrides,
  removeDefaultOverride,
  setDefaultOverride,
} from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import { liveTeam, ownTeam } from '../../../access/teams.ts';
import { handle } from '../../../core/handle.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { nameCursor } from '../../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../../platform/http/page.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { checkGivenDefault } from './defaults.ts';
import { definitionChanged, lockField } from './transaction.ts';

async function showOverrides(
  db: Database,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<DefaultOverride[]> {
  const { rows } = await sql<DefaultOverride>`
    select o.team_id, t.name as team_name, o.default_value, o.updated_at
    from field_default_overrides o join teams t on t.id = o.team_id
    where ${which} and ${liveTeam} ${rest}`.execute(db);
  return rows;
}

/** FIELD-34: lists the defaults of single teams. They never leave this server. */
export const list = handle(listDefaultOverrides, async ({ db }, { params, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const key = nameCursor.read(query.cursor);
  const after = key === null ? sql`true` : sql`(lower(t.name), t.id) > (lower(${key.name}), ${key.id}::uuid)`;
  const { rows: found } = await sql`select from fields where id = ${params.id}`.execute(db);
  if (found.length === 0) throw notFound();
  const rows = await showOverrides(
    db,
    sql`o.field_id = ${params.id} and ${after}`,
    sql`order by lower(t.name), t.id limit ${limit + 1}`,
  );
  return {
    status: 200,
    body: cutPage(rows, limit, (last) => nameCursor.after({ name: last.team_name, id: last.team_id })),
  };
});

export const set = handle(setDefaultOverride, async ({ db }, { caller, params, body }) => {
  const override = await db.transaction().execute(async (tx) => {
    const field = await lockField(tx, params.id);
    if (field.subject_kind === 'collection') {
      throw refuse('field-of-collections', { field: field.code });
    }
    const { rows } = await sql`select from teams t where t.id = ${params.team_id} and ${ownTeam}`.execute(tx);
    if (rows.length === 0) throw refuse('team-not-found');
    const value = JSON.stringify(await checkGivenDefault(tx, caller, field, body));
    await sql`insert into field_default_overrides as o (field_id, team_id, default_value)
      values (${field.id}, ${params.team_id}, ${value}::jsonb)
      on conflict (field_id, team_id) do update set default_value = excluded.default_value,
        updated_at = greatest(clock_timestamp(), o.updated_at + interval '1 millisecond')`.execute(tx);
    await definitionChanged(tx);
    await recordEvent(tx, caller, {
      event: 'field.default_override.set',
      target: { kind: 'field', id: field.id },
      metadata: { code: field.code, team_id: params.team_id },
    });
    const [shown] = await showOverrides(tx, sql`o.field_id = ${field.id} and o.team_id = ${params.team_id}`);
    if (shown === undefined) throw notFound();
    return shown;
  });
  return { status: 200, body: override };
});

export const remove = handle(removeDefaultOverride, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const field = await lockField(tx, params.id);
    const { rows } = await sql`delete from field_default_overrides
      where field_id = ${field.id} and team_id = ${params.team_id} returning field_id`.execute(tx);
    if (rows.length === 0) throw notFound();
    await definitionChanged(tx);
    await recordEvent(tx, caller, {
      event: 'field.default_override.removed',
      target: { kind: 'field', id: field.id },
      metadata: { code: field.code, team_id: params.team_id },
    });
  });
  return { status: 204 };
});
