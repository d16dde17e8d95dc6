import { sql } from 'kysely';
import { shownAssets } from '../../../access/assets.ts';
import { disclosedReference } from '../../../access/field-values.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { referenceCells } from './cells.ts';
import type { FieldTypeRules } from './field-type.ts';
import { wrongValue } from './filtering.ts';

/** Another asset. */
export const reference: FieldTypeRules = {
  parse: (_, { value_ref: ref }) => (ref == null ? null : { kind: 'ref', ref: ref.toLowerCase() }),
  faultOf: () => null,
  ofContext: () => null,
  filter: (filter, _, caller) => {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(filter.value))
      throw wrongValue(filter, sentence('an id'));
    return sql`(v.value_ref = ${filter.value}::uuid and ${disclosedReference(caller, sql`v.value_ref`)})`;
  },
  // The title of an asset that the caller may see.
  words: (caller) => sql`(select a.title from assets a where a.id = v.value_ref and ${shownAssets(caller)})`,
  searched: null,
  extraction: { from: 'nothing' },
  cells: referenceCells,
  federation: { form: 'asset', takes: ['reference'] },
};
