import { counted } from '../import/summary.ts';
import type { Ledger } from '../imports/ledger.ts';
import type { ImmichLibrary } from './library.ts';
import { whyNotRenewed } from './links.ts';

/** Returns what an import would do, as text. */
export function previewText(
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
    `${account.name} <${account.email}> of Immich becomes ${owner}:`,
    `  ${counted(all.length, 'file')}, ${known} of them imported before`,
    `  ${count(({ visibility }) => visibility !== 'timeline')} archived or hidden, ${count(({ isTrashed }) => isTrashed)} in the trash`,
    `  ${count(({ isFavorite }) => isFavorite)} favourites, ${tags.size} with tags`,
    `  ${counted(stacks.length, 'stack')}`,
    ...[...unwired].map(
      ([source, files]) => `  no field is filled from ${source}, which ${files} files have`,
    ),
    '',
    'Albums:',
    ...albums.map(
      ({ name, items, members: { length } }) => `  ${name}: ${items.length} files, ${length} members`,
    ),
    ...members.flatMap(({ album, member }) =>
      accounts.has(member.id)
        ? []
        : [
            `  ${album.name}: no account here has confirmed ${member.email}, so ${member.name} will not see it`,
          ],
    ),
    ...foreignAlbums.map(({ name }) => `  ${name}: belongs to another account, left out`),
    '',
    'Shared links:',
    ...links.map((link) => `  ${link.key}: ${whyNotRenewed(link) ?? 'a new link'}`),
    ...partners.map(
      ({ name }) => `  ${name} sees the whole library as a partner, and would be given nothing`,
    ),
    '',
  ].join('\n');
}
