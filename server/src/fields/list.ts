import { getField, listFields } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { handle } from '../platform/http/bind.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';
import { showFieldsTo, TERMS_LISTED } from './show.ts';

/** The place of a definition in display order. */
interface Place {
  display_order: number;
  code: string;
}

function placeAfter({ display_order, code }: Place): string {
  return Buffer.from(`${display_order} ${code}`).toString('base64url');
}

function readPlace(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, order, code] = /^(-?\d{1,10}) ([a-z][a-z0-9_]{0,63})$/.exec(text) ?? [];
  if (order === undefined || code === undefined || Math.abs(Number(order)) > 2_147_483_647) {
    throw refuse(400, 'malformed cursor');
  }
  return { display_order: Number(order), code };
}

export const list = handle(listFields, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = readPlace(query.cursor);
  const { status } = query;
  const conditions = [
    status === undefined
      ? sql<boolean>`d.status <> 'archived'`
      : status === 'any'
        ? sql<boolean>`true`
        : sql<boolean>`d.status = ${status}`,
    query.subject_kind === undefined
      ? sql<boolean>`true`
      : sql<boolean>`d.subject_kind = ${query.subject_kind}`,
    // spec 2.7: empty means all, and a collection has no type.
    query.asset_type === undefined
      ? sql<boolean>`true`
      : sql<boolean>`(d.subject_kind = 'asset' and (d.applies_to = '{}' or ${query.asset_type} = any(d.applies_to)))`,
    after === null
      ? sql<boolean>`true`
      : sql<boolean>`(d.display_order, d.code) > (${after.display_order}, ${after.code})`,
  ];
  const rest = sql`order by d.display_order, d.code limit ${limit + 1}`;
  const rows = await showFieldsTo(db, caller, sql`${sql.join(conditions, sql` and `)}`, {
    rest,
    terms: TERMS_LISTED,
  });
  return { status: 200, body: cutPage(rows, limit, placeAfter) };
});

export const get = handle(getField, async ({ db }, { caller, params }) => {
  const [field] = await showFieldsTo(db, caller, sql`d.id = ${params.id}`);
  if (field === undefined) throw notFound();
  return { status: 200, body: field };
});
