import type { AssetHappening, AssetHistoryEntry } from '@vitrine/contract/asset-history';
import { listOf } from '#lib/languages/list.ts';
import { partsOf, places } from '#lib/languages/parts.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';

/** A part of a sentence: text, or the person who did it. */
export type Part = { readonly text: string } | { readonly who: NonNullable<AssetHistoryEntry['who']> };

const propertyWords: Readonly<Record<string, string>> = {
  title: phrase('title'),
  description: phrase('description'),
  tags: phrase('tags'),
  status: phrase('status'),
  sensitivity: phrase('audience'),
  mature: phrase('mature content'),
  ai_provenance: phrase('use of AI'),
  clear_ai_provenance: phrase('use of AI'),
  asset_type: phrase('type'),
  team_id: phrase('team'),
  clear_team: phrase('team'),
  metadata: phrase('metadata'),
  related: phrase('related files'),
  stack: phrase('stack'),
  subtitle_tracks: phrase('subtitles'),
  poster: phrase('cover frame'),
};

/** Returns the properties of an edit in words, such as "title and tags". */
const editedInWords = (properties: readonly string[]) =>
  listOf([...new Set(properties.map((name) => propertyWords[name] ?? name.replaceAll('_', ' ')))]);

const isEmpty = (text: string | undefined): text is undefined | '' => text === undefined || text === '';

/** The place of the person. */
const [person] = places;

/** What happened, by a person who may be unknown. */
type Sentence = (entry: AssetHistoryEntry, who: string | undefined) => string;

const versionAdded: Sentence = ({ version, note }, who) => {
  const added = who === undefined ? `Added version ${version}` : `${who} added version ${version}`;
  return isEmpty(note) ? added : `${added}: “${note}”`;
};

const linkCreated: Sentence = ({ label }, who) => {
  if (isEmpty(label)) return who === undefined ? 'Made a share link' : `${who} made a share link`;
  return who === undefined ? `Made the share link “${label}”` : `${who} made the share link “${label}”`;
};

const edited: Sentence = ({ properties = [] }, who) => {
  const parts = editedInWords(properties);
  return who === undefined ? `Changed ${parts}` : `${who} changed ${parts}`;
};

const fieldChanged: Sentence = ({ field }, who) => {
  const name = field === undefined ? phrase('a field') : phrase(`“${field.title}”`);
  return who === undefined ? `Changed ${name}` : `${who} changed ${name}`;
};

const shared: Sentence = ({ subject }, who) => {
  const account = subject?.display_name ?? phrase('an account');
  return who === undefined ? `Shared it with ${account}` : `${who} shared it with ${account}`;
};

/** Sentences about links name nobody: visitors are anonymous, and the history does not say who revoked a link. */
const sentences: Readonly<Record<AssetHappening, Sentence>> = {
  created: (_, who) => (who === undefined ? 'Uploaded the file' : `${who} uploaded the file`),
  edited,
  version_added: versionAdded,
  field_changed: fieldChanged,
  state_changed: (_, who) =>
    who === undefined ? 'Moved it to another state' : `${who} moved it to another state`,
  deleted: (_, who) => (who === undefined ? 'Deleted it' : `${who} deleted it`),
  restored: (_, who) => (who === undefined ? 'Restored it' : `${who} restored it`),
  shared,
  link_created: linkCreated,
  link_revoked: ({ label }) =>
    isEmpty(label) ? 'A share link was revoked' : `The share link “${label}” was revoked`,
  downloaded: ({ count = 1 }, who) =>
    who === undefined
      ? plural(count, ['One download', '# downloads'])
      : `${who}: ${plural(count, ['One download', '# downloads'])}`,
  viewed_through_link: ({ count = 1, label }) =>
    isEmpty(label)
      ? plural(count, ['One view through a share link', '# views through a share link'])
      : `${plural(count, ['One view', '# views'])} through the share link “${label}”`,
  downloaded_through_link: ({ count = 1, label }) =>
    isEmpty(label)
      ? plural(count, ['One download through a share link', '# downloads through a share link'])
      : `${plural(count, ['One download', '# downloads'])} through the share link “${label}”`,
};

/** Describes what happened, with the person who did it if there is one. */
export function happeningInWords(entry: AssetHistoryEntry): Part[] {
  const { what, who } = entry;
  const sentence = sentences[what](entry, who === undefined ? undefined : person);
  return partsOf<Part>(sentence, who === undefined ? {} : { [person]: { who } }, (text) => ({ text }));
}
