import { hasVocabulary, isOpenVocabulary } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { listFieldValues, type Term } from '@vitrine/contract/vocabulary';
import { type RawBuilder, sql } from 'kysely';
import { mayExtendVocabularies, shownDefinitions } from '../../../access/fields.ts';
import { handle } from '../../../core/handle.ts';
import { containsPattern, prefixPattern } from '../../../platform/database/like.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { DEFAULT_LIMIT } from '../../../platform/http/page.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { termKey } from './terms.ts';

/** Columns of a term `t`. Its path consists of the labels from the root. */
export const termColumns = sql`t.value, t.label, t.translations, t.status, t.replaced_by,
  (select array_agg(p.label order by p.depth) from field_terms p
    where p.field_id = t.field_id and p.value = any(t.path)) as path,
  (select array_agg(x.alias order by x.alias) from field_term_aliases x
    where x.field_id = t.field_id and x.value = t.value) as aliases`;

export interface TermRow extends Omit<Term, 'translations' | 'replaced_by' | 'aliases'> {
  translations: NonNullable<Term['translations']>;
  replaced_by: string | null;
  aliases: string[] | null;
}

/** Converts a row to the contract's term. */
export function showTerm({ value, label, translations, path, status, replaced_by, aliases }: TermRow): Term {
  return {
    value,
    label,
    ...(Object.keys(translations).length === 0 ? {} : { translations }),
    path,
    status,
    ...(replaced_by === null ? {} : { replaced_by }),
    ...(aliases === null ? {} : { aliases }),
  };
}

interface TermListQuery {
  fieldId: string;
  /** In the form of `termKey`; empty lists all terms. */
  key: string;
  match: 'prefix' | 'substring';
  status: RawBuilder<boolean>;
  limit: number;
}

interface Offered {
  terms: Term[];
  matched: number;
}

/** Lists terms of a status by label, from an index, and counts them. */
async function offerAll(db: Database, { fieldId, status, limit }: TermListQuery): Promise<Offered> {
  const which = sql`t.field_id = ${fieldId} and ${status}`;
  const { rows } = await sql<TermRow & { matched: number }>`
    select ${termColumns}, (select count(*) from field_terms t where ${which}) as matched
    from field_terms t where ${which} order by lower(t.label), t.value limit ${limit}`.execute(db);
  return { terms: rows.map(showTerm), matched: rows[0]?.matched ?? 0 };
}

/**
 * Lists terms whose slug, label, translation or alias matches: exact matches first, then prefixes, then substrings,
 * each by label and slug.
 */
async function offerMatching(
  db: Database,
  { fieldId, key, match, status, limit }: TermListQuery,
): Promise<Offered> {
  const prefix = prefixPattern(key);
  const pattern = match === 'prefix' ? prefix : containsPattern(key);
  const rankOf = (text: RawBuilder<string>) =>
    sql`case when ${text} = ${key} then 0 when ${text} like ${prefix} then 1 else 2 end`;
  const { rows } = await sql<TermRow & { matched: number }>`
    with hits as (
      select u.value, u.label, min(u.rank) as rank from (
        select n.value, n.label, least(${rankOf(sql`n.key`)}, ${rankOf(sql`n.value`)}) as rank from (
          -- "lower" is expensive in a linguistic collation; "offset 0" makes PostgreSQL compute it once per row.
          select t.value, t.label_key as key, lower(t.label) as label from field_terms t
          where t.field_id = ${fieldId} and (t.label_key like ${pattern} or t.value like ${pattern}) and ${status}
          offset 0) n
        union all
        select t.value, lower(t.label), case when position(${`\n${key}\n`} in t.translation_keys) > 0 then 0
          when position(${`\n${key}`} in t.translation_keys) > 0 then 1 else 2 end
        from field_terms t
        where t.field_id = ${fieldId} and t.translation_keys like ${`${match === 'prefix' ? '%\n' : ''}${pattern}`} and ${status}
        union all
        select t.value, lower(t.label), ${rankOf(sql`x.key`)} from field_term_aliases x
        join field_terms t on t.field_id = x.field_id and t.value = x.value
        where x.field_id = ${fieldId} and x.key like ${pattern} and ${status}) u
      group by u.value, u.label
    ), best as (
      select h.value, h.rank from hits h order by h.rank, h.label, h.value limit ${limit}
    )
    select ${termColumns}, (select count(*) from hits) as matched
    from best b join field_terms t on t.field_id = ${fieldId} and t.value = b.value
    order by b.rank, lower(t.label), t.value`.execute(db);
  return { terms: rows.map(showTerm), matched: rows[0]?.matched ?? 0 };
}

interface Asked extends Pick<FieldDefinition, 'type' | 'open_vocabulary' | 'status'> {
  size: number;
}

export const offer = handle(listFieldValues, async ({ db }, { caller, params, query }) => {
  const { rows } = await sql<Asked>`
    select d.type, d.open_vocabulary, d.status,
      (select count(*) from field_terms t where t.field_id = d.id) as size
    from fields d where d.id = ${params.id} and ${shownDefinitions(caller)}`.execute(db);
  const field = rows[0];
  if (field === undefined) throw notFound();
  if (!hasVocabulary(field.type)) throw refuse('field-without-vocabulary', { type: field.type });
  const { limit = DEFAULT_LIMIT, match = 'substring', status = 'active' } = query;
  const key = termKey(query.q ?? '');
  const question = {
    fieldId: params.id,
    key,
    match,
    limit,
    status: status === 'any' ? sql<boolean>`true` : sql<boolean>`t.status = ${status}`,
  };
  const { terms, matched } = await (key === '' ? offerAll(db, question) : offerMatching(db, question));
  const isOpen = isOpenVocabulary(field);
  return {
    status: 200,
    body: {
      values: terms,
      matched,
      returned: terms.length,
      limit,
      truncated: matched > terms.length,
      vocabulary_size: field.size,
      open_vocabulary: isOpen,
      can_extend: isOpen && field.status === 'active' && mayExtendVocabularies(caller),
    },
  };
});
