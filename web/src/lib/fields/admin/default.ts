import type { DefaultValue, FieldType } from '@vitrine/contract/fields';

export type Context = NonNullable<DefaultValue['context']>;

/** A default in the form. */
export interface DefaultDraft {
  kind: 'none' | 'literal' | Context;
  /** The value of every type except several terms, as in its control. */
  text: string;
  terms: string[];
}

export const contextWords: Readonly<Record<Context, string>> = {
  uploading_user: 'The uploader',
  uploading_team: 'The uploader’s team',
  current_date: 'The time of the upload',
};

/** The contexts that a default may use, by type (FIELD-31). */
export function contextsFor(type: FieldType): readonly Context[] {
  if (type === 'text' || type === 'longtext' || type === 'rich_text')
    return ['uploading_user', 'uploading_team'];
  return type === 'date' || type === 'datetime' ? ['current_date'] : [];
}

/** Returns the clock time of a value for a date and time input, the same for every reader. */
function clockOf(timestamp: string): string {
  return timestamp.slice(0, 16);
}

function textOf(type: FieldType, value: DefaultValue): string {
  if (value.value_text != null) return value.value_text;
  if (value.value_num != null) {
    if (type === 'boolean') return value.value_num === 1 ? 'yes' : 'no';
    return String(value.value_num);
  }
  if (value.value_date != null)
    return type === 'date' ? value.value_date.slice(0, 10) : clockOf(value.value_date);
  return value.value_ref ?? '';
}

export function draftOf(type: FieldType, value: DefaultValue | null): DefaultDraft {
  if (value === null) return { kind: 'none', text: type === 'boolean' ? 'yes' : '', terms: [] };
  if (value.kind === 'context')
    return { kind: value.context ?? 'none', text: type === 'boolean' ? 'yes' : '', terms: [] };
  return { kind: 'literal', text: textOf(type, value), terms: [...(value.value_options ?? [])] };
}

const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** Returns the default to send; undefined for none, null if it is incomplete. */
export function defaultOf(
  type: FieldType,
  { kind, text, terms }: DefaultDraft,
): DefaultValue | undefined | null {
  if (kind === 'none') return undefined;
  if (kind !== 'literal') return { kind: 'context', context: kind };
  if (type === 'multi_select') return terms.length === 0 ? null : { kind, value_options: terms };
  if (text.trim() === '') return null;
  switch (type) {
    case 'number': {
      const number = Number(text);
      return Number.isFinite(number) ? { kind, value_num: number } : null;
    }
    case 'boolean':
      return { kind, value_num: text === 'yes' ? 1 : 0 };
    case 'date':
      return { kind, value_date: `${text}T00:00:00Z` };
    case 'datetime': {
      const at = new Date(`${text}Z`);
      return Number.isNaN(at.getTime()) ? null : { kind, value_date: at.toISOString() };
    }
    case 'reference': {
      // Accepts the address of the asset's page as well as its id.
      const [id] = uuidPattern.exec(text) ?? [];
      return id === undefined ? null : { kind, value_ref: id.toLowerCase() };
    }
    default:
      return { kind, value_text: text };
  }
}

/** Describes a default for a list. */
export function spoken(type: FieldType, value: DefaultValue): string {
  if (value.kind === 'context') return value.context === undefined ? '' : contextWords[value.context];
  if (value.value_options != null) return value.value_options.join(', ');
  const text = textOf(type, value);
  if (type === 'boolean') return text === 'yes' ? 'Yes' : 'No';
  return type === 'datetime' ? text.replace('T', ' ') : text;
}
