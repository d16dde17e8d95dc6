import type { TypedValue } from '../../content/fields/values/typed-value.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Context } from './context.ts';
import type { ResourceRow } from './details.ts';
import type { ImportedFields } from './fields.ts';
import { historyText, ratingsText, recordsText } from './history.ts';

/** Adds the values that are not nodes. */
export function addOwnValues(
  context: Context,
  { own }: ImportedFields,
  row: ResourceRow,
  values: Map<string, TypedValue>,
): void {
  const { installation, reporter } = context;
  const text = (id: string, value: string) => {
    if (value !== '') values.set(id, { kind: 'text', text: value.slice(0, 50_000).toWellFormed() });
  };
  const { text: history, isCut } = historyText(installation, row.log ?? []);
  if (isCut) reporter.change('history', row.ref, sentence('only the newest entries fit into the field'));
  text(own.history, history);
  text(own.ratings, ratingsText(installation, row.ratings ?? []));
  text(own.licences, recordsText(row.licences ?? []));
  text(own.consents, recordsText(row.consents ?? []));
  const contributor = installation.users.find(({ ref }) => ref === row.created_by);
  if (row.created_by !== null)
    text(own.contributor, contributor?.username ?? `user ${row.created_by}, deleted`);
  if ((row.user_rating_count ?? 0) > 0 && row.user_rating !== null)
    values.set(own.rating, { kind: 'num', num: row.user_rating });
  if (row.geo_lat !== null && row.geo_long !== null) {
    values.set(own.latitude, { kind: 'num', num: row.geo_lat });
    values.set(own.longitude, { kind: 'num', num: row.geo_long });
  }
}
