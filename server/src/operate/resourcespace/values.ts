import { decodeHTML } from 'entities';
import { sql } from 'kysely';
import { cleanHtml, hasNoText } from '../../content/fields/values/rich-text.ts';
import { columnsOf, type TypedValue } from '../../content/fields/values/typed-value.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Context } from './context.ts';
import { addsParents, chosenNodes, hasOptions, isRange, TREE } from './field-plan.ts';
import { type ImportedField, type ImportedFields, isTitle } from './fields.ts';
import { readDay, readMoment, readPlainNumber, readTranslated } from './texts.ts';

/** A value of a resource: a node with its field. */
export interface NodeValue {
  field: number;
  node: number;
  name: string | null;
}

/** The values of an asset by the ids of their fields, and its title. */
export interface AssetValues {
  title: string | null;
  values: Map<string, TypedValue>;
}

const LONGEST_LONGTEXT = 50_000;
const LONGEST_TITLE = 500;

function cut(text: string, most: number): string {
  return text.length <= most
    ? text
    : text
        .slice(0, most)
        .toWellFormed()
        .replace(/\ufffd$/, '');
}

/** The text of a value in the default language, and in the others on lines of their own. */
function splitLanguages(stored: string, language: string): { text: string; others: string } {
  const { text, translations } = readTranslated(stored, language);
  const others = [...translations]
    .filter(([, other]) => other !== text)
    .map(([code, other]) => `${code}: ${other}`);
  return { text, others: others.join('\n') };
}

/** Converts texts of a resource to a value of a type; null if they do not fit it. */
function convert(type: string, texts: readonly string[]): TypedValue | null {
  const [first = ''] = texts;
  const joined = texts.join('\n');
  if (type === 'text') return joined.length <= 2000 ? { kind: 'text', text: joined } : null;
  if (type === 'longtext') return joined.length <= LONGEST_LONGTEXT ? { kind: 'text', text: joined } : null;
  if (type === 'rich_text') {
    const html = cleanHtml(joined);
    return hasNoText(html) || html.length > 100_000 ? null : { kind: 'text', text: html };
  }
  if (texts.length !== 1) return null;
  if (type === 'number') {
    const num = readPlainNumber(first);
    return num === null ? null : { kind: 'num', num };
  }
  if (type === 'date') {
    const day = readDay(first);
    return day === null ? null : { kind: 'date', date: `${day}T00:00:00Z` };
  }
  if (type === 'datetime') {
    const moment = readMoment(first);
    return moment === null ? null : { kind: 'date', date: moment };
  }
  return null;
}

function convertOptions(
  context: Context,
  { plan, options, slugOfNode }: ImportedField,
  nodes: readonly number[],
): TypedValue | null {
  if (options === null) return null;
  const chosen =
    plan.field.kind === TREE ? chosenNodes(options, nodes, addsParents(context.installation)) : nodes;
  const slugs = chosen.flatMap((node) => slugOfNode.get(node) ?? []);
  const [only] = slugs;
  if (only === undefined) return null;
  if (plan.type === 'multi_select') return { kind: 'options', options: [...new Set(slugs)] };
  return slugs.length === 1 ? { kind: 'text', text: only } : null;
}

/** The letters of HTML as people read it, to compare texts before and after cleaning. */
function wordsOf(html: string): string {
  return decodeHTML(html.replaceAll(/<[^>]*>/g, '')).replaceAll(/\s+/g, '');
}

/** Keeps what has no field of its own as lines that administrators read. */
function asLines(label: string, texts: readonly string[]): string[] {
  return texts.map((text) => `${label}: ${text}`);
}

/** Converts the values of a resource of a type. */
export function convertValues(
  context: Context,
  fields: ImportedFields,
  { ref, type, values }: { ref: number; type: number; values: readonly NodeValue[] },
): AssetValues {
  const { installation, reporter } = context;
  const result: AssetValues = { title: null, values: new Map() };
  const leftovers: string[] = [];
  for (const [fieldRef, own] of Map.groupBy(values, ({ field }) => field)) {
    const field = fields.byRef.get(fieldRef);
    if (field === undefined) continue;
    const { plan } = field;
    const stored = own.map(({ name }) => name ?? '');
    const applies = plan.field.types.length === 0 || plan.field.types.includes(type);
    const texts = isRange(plan.field) ? [stored.toSorted().join('/')] : stored;
    const parts = hasOptions(plan.field)
      ? { text: texts, others: '' }
      : {
          text: texts.map((text) => splitLanguages(text, installation.language).text),
          others: texts
            .map((text) => splitLanguages(text, installation.language).others)
            .filter((text) => text !== '')
            .join('\n'),
        };
    if (parts.others !== '' && field.translationsId !== null)
      result.values.set(field.translationsId, { kind: 'text', text: cut(parts.others, LONGEST_LONGTEXT) });
    if (isTitle(plan, context)) {
      const title = parts.text.join(', ');
      result.title = cut(title, LONGEST_TITLE);
      if (result.title !== title) leftovers.push(...asLines(plan.label, [title]));
      continue;
    }
    const value = !applies
      ? null
      : hasOptions(plan.field)
        ? convertOptions(
            context,
            field,
            own.map(({ node }) => node),
          )
        : convert(plan.type, parts.text);
    if (value === null || (value.kind === 'text' && value.text === '')) {
      leftovers.push(...asLines(`${plan.label} (${plan.code})`, texts));
      if (applies && texts.some((text) => text !== ''))
        reporter.change(
          'value',
          `${ref}/${plan.field.name}`,
          sentence('does not fit the type {type}; it is among the other values', { type: plan.type }),
        );
    } else {
      result.values.set(field.id, value);
      if (
        plan.type === 'rich_text' &&
        value.kind === 'text' &&
        wordsOf(value.text) !== wordsOf(parts.text.join('\n'))
      ) {
        leftovers.push(...asLines(`${plan.label} (${plan.code})`, texts));
        reporter.change(
          'value',
          `${ref}/${plan.field.name}`,
          sentence('has elements that are not safe; its source is among the other values'),
        );
      }
    }
  }
  if (leftovers.length > 0)
    result.values.set(fields.own.otherValues, {
      kind: 'text',
      text: cut(leftovers.join('\n'), LONGEST_LONGTEXT),
    });
  return result;
}

/** An asset with the values to write. */
export interface AssetWithValues {
  id: string;
  values: ReadonlyMap<string, TypedValue>;
}

/** Writes the values of assets, except where a person has written one here since the earlier run. */
export async function writeValues(tx: Tx, assets: readonly AssetWithValues[]): Promise<void> {
  const rows = assets.flatMap(({ id, values }) =>
    [...values].map(([field_id, value]) => ({ asset_id: id, field_id, ...columnsOf(value) })),
  );
  if (rows.length === 0) return;
  await sql`insert into asset_field_values (asset_id, field_id, value_text, value_num, value_date, value_offset, value_options, set_by)
    select asset_id, field_id, value_text, value_num, value_date, value_offset, value_options, 'import'
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (asset_id uuid, field_id uuid, value_text text,
      value_num double precision, value_date timestamptz, value_offset smallint, value_options text[])
    on conflict (asset_id, field_id) do update set value_text = excluded.value_text, value_num = excluded.value_num,
      value_date = excluded.value_date, value_offset = excluded.value_offset, value_options = excluded.value_options,
      set_by = 'import', set_at = greatest(clock_timestamp(), asset_field_values.set_at + interval '1 millisecond'),
      set_by_user_ref = null
    where asset_field_values.set_by not in ('manual', 'api')`.execute(tx);
}
