import type { TagDetail } from '@vitrine/contract/assets';
import { phrase } from '#lib/languages/phrase.ts';

/** Describes the source of a tag: "by hand", "by AI, 92 % sure", "imported". */
export function sourceOf(tag: TagDetail): string {
  if (tag.source === 'manual') return phrase('by hand');
  if (tag.source === 'import') return phrase('imported');
  return tag.confidence == null ? phrase('by AI') : `by AI, ${Math.round(tag.confidence * 100)} % sure`;
}

/** Returns the program that suggested a tag; undefined for tags from people. */
export function suggesterOf(tag: TagDetail): string | undefined {
  const names = [tag.created_by_provider, tag.created_by_model].filter((name) => name != null && name !== '');
  return names.length === 0 ? undefined : names.join(' ');
}
