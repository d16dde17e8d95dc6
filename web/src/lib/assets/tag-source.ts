import type { TagDetail } from '@vitrine/contract/assets';

/** Where a tag came from, in a few words: "by hand", "by AI, 92 % sure", "imported". */
export function sourceOf(tag: TagDetail): string {
  if (tag.source === 'manual') return 'by hand';
  if (tag.source === 'import') return 'imported';
  const sure = tag.confidence == null ? '' : `, ${Math.round(tag.confidence * 100)} % sure`;
  return `by AI${sure}`;
}

/** The program that suggested a tag; undefined for people's own. */
export function suggesterOf(tag: TagDetail): string | undefined {
  const names = [tag.created_by_provider, tag.created_by_model].filter((name) => name != null && name !== '');
  return names.length === 0 ? undefined : names.join(' ');
}
