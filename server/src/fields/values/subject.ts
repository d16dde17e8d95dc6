import { type RawBuilder, sql } from 'kysely';
import { appliesToAsset, type SubjectKind } from '../../access/field-values.ts';

/** What a value is of. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** The table of the values of this kind of subject. */
export function valuesTable(kind: SubjectKind): RawBuilder<unknown> {
  return sql.table(kind === 'asset' ? 'asset_field_values' : 'collection_field_values');
}

/** Its column that names the subject. */
export function subjectColumn(kind: SubjectKind): RawBuilder<unknown> {
  return sql.ref(kind === 'asset' ? 'asset_id' : 'collection_id');
}

/** For `from`: the definitions `d`, beside the asset `a` whose type and team the rules ask for. */
export function definitionsFor(subject: Subject): RawBuilder<unknown> {
  return subject.kind === 'asset' ? sql`fields d join assets a on a.id = ${subject.id}` : sql`fields d`;
}

/** Whether the field is for this subject: an asset of its types; any collection (spec 2.7, applies_to). */
export function appliesTo(kind: SubjectKind): RawBuilder<boolean> {
  return kind === 'asset' ? appliesToAsset : sql`true`;
}
