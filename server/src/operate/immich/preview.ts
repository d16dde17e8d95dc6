import type { Language } from '@vitrine/contract/languages';
import { say, sayCount } from '../../platform/language/say.ts';
import { saySentence, sentence } from '../../platform/language/sentence.ts';
import type { Ledger } from '../imports/ledger.ts';
import type { ImmichLibrary } from './library.ts';
import { whyNotRenewed } from './links.ts';

/** Returns what an import would do, as text. */
export function previewText(
  language: Language,
  library: ImmichLibrary,
  {
    ledger,
    accounts,
    unwired,
    owner,
  }: {
    ledger: Ledger;
    accounts: ReadonlyMap<string, number>;
    unwired: ReadonlyMap<string, number>;
    owner: string;
  },
): string {
  const { account, assets, albums, foreignAlbums, stacks, links, partners, tags } = library;
  const all = [...assets.values()];
  const known = all.filter(({ id }) => ledger.find('resource', id) !== undefined).length;
  const count = (test: (asset: (typeof all)[number]) => boolean) => all.filter(test).length;
  const members = albums.flatMap((album) => album.members.map((member) => ({ album, member })));
  return [
    say(language, '{account} of Immich becomes {owner}:', {
      account: `${account.name} <${account.email}>`,
      owner,
    }),
    `  ${sayCount(language, all.length, ['# file, {known} of them imported before', '# files, {known} of them imported before'], { known })}`,
    `  ${say(language, '{archived} archived or hidden, {trashed} in the trash', {
      archived: count(({ visibility }) => visibility !== 'timeline'),
      trashed: count(({ isTrashed }) => isTrashed),
    })}`,
    `  ${say(language, 'favourites: {favourites}, with tags: {tagged}', {
      favourites: count(({ isFavorite }) => isFavorite),
      tagged: tags.size,
    })}`,
    `  ${sayCount(language, stacks.length, ['# stack', '# stacks'])}`,
    ...[...unwired].map(
      ([source, files]) =>
        `  ${sayCount(language, files, ['no field is filled from {source}, which # file has', 'no field is filled from {source}, which # files have'], { source })}`,
    ),
    '',
    say(language, 'Albums:'),
    ...albums.map(
      ({ name, items, members: { length } }) =>
        `  ${name}: ${sayCount(language, items.length, ['# file', '# files'])}, ${sayCount(language, length, ['# member', '# members'])}`,
    ),
    ...members.flatMap(({ album, member }) =>
      accounts.has(member.id)
        ? []
        : [
            `  ${album.name}: ${say(language, 'no account here has confirmed {email}, so {name} will not see it', member)}`,
          ],
    ),
    ...foreignAlbums.map(({ name }) => `  ${name}: ${say(language, 'belongs to another account, left out')}`),
    '',
    say(language, 'Shared links:'),
    ...links.map(
      (link) => `  ${link.key}: ${saySentence(language, whyNotRenewed(link) ?? sentence('a new link'))}`,
    ),
    ...partners.map(
      ({ name }) =>
        `  ${say(language, '{name} sees the whole library as a partner, and would be given nothing', { name })}`,
    ),
    '',
  ].join('\n');
}
