import type { AssetHappening, AssetHistoryEntry } from '@vitrine/contract/asset-history';
import { locale } from '#lib/languages/language.ts';

const propertyWords: Readonly<Record<string, string>> = {
  title: 'title',
  description: 'description',
  tags: 'tags',
  status: 'status',
  sensitivity: 'audience',
  mature: 'mature content',
  ai_provenance: 'use of AI',
  clear_ai_provenance: 'use of AI',
  asset_type: 'type',
  team_id: 'team',
  clear_team: 'team',
  metadata: 'metadata',
  related: 'related files',
};

/** Returns the properties of an edit in words, such as "title and tags". */
function editedInWords(properties: readonly string[]): string {
  const words = [...new Set(properties.map((name) => propertyWords[name] ?? name.replaceAll('_', ' ')))];
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const times = (count: number | undefined, what: string) =>
  count === 1 || count === undefined ? `one ${what}` : `${count.toLocaleString(locale())} ${what}s`;

const linkOf = ({ label }: AssetHistoryEntry) =>
  label === undefined || label === '' ? 'a share link' : `the share link “${label}”`;

const sentences: Readonly<Record<AssetHappening, (entry: AssetHistoryEntry) => string>> = {
  created: () => 'uploaded the file',
  edited: ({ properties }) => `changed ${editedInWords(properties ?? [])}`,
  version_added: ({ version, note }) =>
    `added version ${version}${note === undefined || note === '' ? '' : `: “${note}”`}`,
  field_changed: ({ field }) => `changed ${field === undefined ? 'a field' : `“${field.title}”`}`,
  state_changed: () => 'moved it to another state',
  deleted: () => 'deleted it',
  restored: () => 'restored it',
  shared: ({ subject }) => `shared it with ${subject?.display_name ?? 'an account'}`,
  link_created: (entry) => `made ${linkOf(entry)}`,
  link_revoked: (entry) => `${linkOf(entry)} was revoked`,
  viewed_through_link: (entry) => `${times(entry.count, 'view')} through ${linkOf(entry)}`,
  downloaded_through_link: (entry) => `${times(entry.count, 'download')} through ${linkOf(entry)}`,
};

/** Describes what happened; the name of who did it precedes the sentence if there is one. */
export function happeningInWords(entry: AssetHistoryEntry): string {
  const sentence = sentences[entry.what](entry);
  return entry.who === undefined ? sentence.charAt(0).toUpperCase() + sentence.slice(1) : sentence;
}
