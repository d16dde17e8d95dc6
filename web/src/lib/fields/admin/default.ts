import { type DefaultContext, type FieldType, holdsSeveral } from '@vitrine/contract/field-types';
import type { DefaultValue } from '@vitrine/contract/fields';
import { viewOf } from '#lib/fields/types/registry.ts';

/** A default in the form. */
export interface DefaultDraft {
  kind: 'none' | 'literal' | DefaultContext;
  /** The value of every type except several terms, as in its control. */
  text: string;
  terms: string[];
}

export const contextWords: Readonly<Record<DefaultContext, string>> = {
  uploading_user: 'The uploader',
  uploading_team: 'The uploader’s team',
  current_date: 'The time of the upload',
};

export function draftOf(type: FieldType, value: DefaultValue | null): DefaultDraft {
  if (value?.kind === 'literal')
    return {
      kind: 'literal',
      text: holdsSeveral(type) ? '' : viewOf[type].defaultText(value),
      terms: [...(value.value_options ?? [])],
    };
  const text = viewOf[type].defaultControl.kind === 'yes or no' ? 'yes' : '';
  return { kind: value?.context ?? 'none', text, terms: [] };
}

/** Returns the default to send; undefined for none, null if it is incomplete. */
export function defaultOf(
  type: FieldType,
  { kind, text, terms }: DefaultDraft,
): DefaultValue | undefined | null {
  if (kind === 'none') return undefined;
  if (kind !== 'literal') return { kind: 'context', context: kind };
  if (holdsSeveral(type)) return terms.length === 0 ? null : { kind, value_options: terms };
  const members = text.trim() === '' ? null : viewOf[type].defaultOf(text);
  return members === null ? null : { kind, ...members };
}

/** Describes a default for a list. */
export function spoken(type: FieldType, value: DefaultValue): string {
  if (value.kind === 'context') return value.context === undefined ? '' : contextWords[value.context];
  return viewOf[type].defaultWords(viewOf[type].defaultText(value));
}
