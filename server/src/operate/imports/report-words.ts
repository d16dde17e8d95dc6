import type { Language } from '@vitrine/contract/languages';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';

/** The kinds of things of an earlier system that a report names, by the codes of its JSON. */
const things = {
  access: sentence('access'),
  album: sentence('album'),
  'album comments': sentence('comments of an album'),
  alternative: sentence('alternative file'),
  collection: sentence('collection'),
  comment: sentence('comment'),
  comments: sentence('comments'),
  field: sentence('field'),
  file: sentence('file'),
  film: sentence('film'),
  group: sentence('group'),
  history: sentence('history'),
  item: sentence('item'),
  items: sentence('items'),
  member: sentence('member'),
  option: sentence('option'),
  'original bytes': sentence('original bytes'),
  partner: sentence('partner'),
  relation: sentence('relation'),
  request: sentence('request'),
  resource: sentence('resource'),
  'saved search': sentence('saved search'),
  setting: sentence('setting'),
  'share key': sentence('share key'),
  'shared link': sentence('shared link'),
  stack: sentence('stack'),
  tags: sentence('tags'),
  text: sentence('text'),
  user: sentence('account'),
  value: sentence('value'),
} as const satisfies Record<string, Sentence>;

export type ThingKind = keyof typeof things;

/** What a report counts, by the codes of its JSON. */
const counts = {
  alternatives: sentence('alternative files'),
  annotations: sentence('annotations'),
  archive_states: sentence('states'),
  assets_already_here: sentence('assets already here'),
  assets_changed: sentence('assets changed'),
  assets_created: sentence('assets created'),
  assets_created_in_the_trash: sentence('assets created in the trash'),
  assets_deleted_here: sentence('assets deleted here'),
  categories_in_names: sentence('categories in names'),
  collections: sentence('collections created'),
  collections_already_here: sentence('collections already here'),
  collections_changed: sentence('collections changed'),
  collections_deleted_here: sentence('collections deleted here'),
  collections_of_the_system_skipped: sentence('collections of the system skipped'),
  comments: sentence('comments'),
  fields: sentence('fields'),
  files: sentence('files'),
  films: sentence('films'),
  groups: sentence('groups'),
  links: sentence('links'),
  options: sentence('options'),
  related: sentence('relations'),
  requests: sentence('requests'),
  resource_types: sentence('resource types'),
  resources: sentence('resources'),
  stacks: sentence('stacks'),
  users: sentence('accounts'),
  users_already_here: sentence('accounts already here'),
  versions_added: sentence('versions added'),
} as const satisfies Record<string, Sentence>;

export type CountName = keyof typeof counts;

/** Returns the words for a code; the code with spaces if an earlier version has written it. */
function wordsOf(words: Readonly<Record<string, Sentence>>, language: Language, code: string): string {
  const known = Object.hasOwn(words, code) ? words[code] : undefined;
  return known === undefined ? code.replaceAll('_', ' ') : saySentence(language, known);
}

/** Returns what a kind of things is called in a language. */
export const sayThing = (language: Language, kind: string): string => wordsOf(things, language, kind);

/** Returns what is counted, in a language. */
export const sayCounted = (language: Language, name: string): string => wordsOf(counts, language, name);
