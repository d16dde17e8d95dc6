import {
  type Account,
  Albums,
  type Asset,
  IdPage,
  type ListedAlbum,
  Account as Me,
  Partners,
  SearchPage,
  type SharedLink,
  SharedLinks,
  Stacks,
  Tags,
  Version,
} from './answers.ts';
import { type Immich, ImmichFailure } from './client.ts';

/** An album in the order in which Immich shows it. */
export interface Album {
  id: string;
  name: string;
  description: string;
  createdAt: string;
  members: readonly (Account & { isEditor: boolean })[];
  /** The ids of its files, also of those of other accounts. */
  items: readonly string[];
}

/** Everything that the account of the key has in Immich. */
export interface ImmichLibrary {
  account: Account;
  assets: ReadonlyMap<string, Asset>;
  /** The paths of the tags of each asset, such as `Family/Children`. */
  tags: ReadonlyMap<string, readonly string[]>;
  albums: readonly Album[];
  /** Albums of others that the account sees. */
  foreignAlbums: readonly { id: string; name: string }[];
  stacks: readonly { id: string; primary: string; others: readonly string[] }[];
  links: readonly SharedLink[];
  /** Accounts that see the whole library. */
  partners: readonly Account[];
}

/** Number of results on a page. */
const PAGE = 1000;

/** What an API key may list; the locked folder opens with a PIN only. */
const visibilities = ['timeline', 'archive', 'hidden'];

async function checkVersion(immich: Immich): Promise<void> {
  const { major, minor } = await immich.get('server/version', Version);
  if (major < 1 || (major === 1 && minor < 133))
    throw new ImmichFailure(`Immich ${major}.${minor} is too old; update it to 1.133 or later`);
}

interface Page<T> {
  assets: { items: T[]; nextPage?: string | null };
}

/** Yields the results of a search, page by page. */
async function* pagesOf<T>(read: (page: { page: number; size: number }) => Promise<Page<T>>) {
  let page: number | null = 1;
  while (page !== null) {
    const { assets }: Page<T> = await read({ page, size: PAGE });
    yield assets.items;
    const next = Number(assets.nextPage ?? Number.NaN);
    // A server that names the same page again would never end.
    page = next > page ? next : null;
  }
}

/**
 * Returns an asset with only the properties that an import reads. All assets are in memory at once, and a change of another
 * property is no reason to import one again.
 */
function factsOf({ exifInfo, people, ...asset }: Asset): Asset {
  const { id, ownerId, type, originalFileName, originalPath, checksum, fileCreatedAt, localDateTime } = asset;
  const { createdAt, isFavorite, isTrashed, visibility, livePhotoVideoId } = asset;
  const exif: NonNullable<Asset['exifInfo']> = exifInfo ?? {};
  const { description = null, city = null, country = null, dateTimeOriginal = null } = exif;
  const { timeZone = null, latitude = null, longitude = null, rating = null } = exif;
  return {
    ...{ id, ownerId, type, originalFileName, checksum, fileCreatedAt, localDateTime },
    ...{ isFavorite, isTrashed, visibility, livePhotoVideoId: livePhotoVideoId ?? null },
    ...(originalPath === undefined ? {} : { originalPath }),
    ...(createdAt === undefined ? {} : { createdAt }),
    exifInfo: { description, city, country, dateTimeOriginal, timeZone, latitude, longitude, rating },
    people: (people ?? []).map(({ name, isHidden }) => ({ name, isHidden: isHidden === true })),
  };
}

async function readAssets(immich: Immich, account: Account): Promise<Map<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const visibility of visibilities) {
    const query = { visibility, withDeleted: true, withExif: true, withPeople: true, order: 'asc' };
    const pages = pagesOf((page) => immich.post('search/metadata', { ...query, ...page }, SearchPage));
    // Partners share their files with the account.
    for await (const items of pages)
      for (const asset of items) if (asset.ownerId === account.id) assets.set(asset.id, factsOf(asset));
  }
  return assets;
}

/** Reads the ids of the files that a search finds. */
async function readIds(immich: Immich, query: object): Promise<string[]> {
  const ids: string[] = [];
  for (const visibility of visibilities) {
    const asked = { ...query, visibility };
    const pages = pagesOf((page) => immich.post('search/metadata', { ...asked, ...page }, IdPage));
    for await (const items of pages) ids.push(...items.map(({ id }) => id));
  }
  return ids;
}

/** Reads the tags of all assets. A search for a tag also finds what is below it, so only the deepest ones count. */
async function readTags(immich: Immich): Promise<Map<string, string[]>> {
  const tags = new Map<string, string[]>();
  for (const { id, value } of await immich.get('tags', Tags))
    for (const asset of await readIds(immich, { tagIds: [id], withDeleted: true }))
      tags.set(asset, [...(tags.get(asset) ?? []), value]);
  for (const [asset, paths] of tags)
    tags.set(
      asset,
      paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`))),
    );
  return tags;
}

function ownerOf({ ownerId, albumUsers }: ListedAlbum): string | undefined {
  return ownerId ?? albumUsers.find(({ role }) => role === 'owner')?.user.id;
}

/** Orders the files of an album as Immich shows them: by the time on the clock, the latest first unless it says otherwise. */
function ordered(ids: readonly string[], order: string | null | undefined, assets: ImmichLibrary['assets']) {
  const keyOf = (id: string) => {
    const asset = assets.get(id);
    return asset === undefined ? '' : `${asset.localDateTime} ${asset.fileCreatedAt}`;
  };
  const keyed = [...new Set(ids)].map((id) => ({ id, key: keyOf(id) }));
  const sign = order === 'asc' ? 1 : -1;
  keyed.sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -sign : sign));
  return keyed.map(({ id }) => id);
}

async function readAlbums(
  immich: Immich,
  account: Account,
  assets: ImmichLibrary['assets'],
): Promise<Pick<ImmichLibrary, 'albums' | 'foreignAlbums'>> {
  // The first list has the account's own, the second also those that others share with it.
  const lists = [await immich.get('albums', Albums), await immich.get('albums?shared=true', Albums)];
  const listed = new Map(lists.flat().map((album) => [album.id, album]));
  const albums: Album[] = [];
  const foreignAlbums: { id: string; name: string }[] = [];
  for (const album of listed.values()) {
    const { id, albumName: name, description, createdAt, order, albumUsers } = album;
    if (ownerOf(album) !== account.id) {
      foreignAlbums.push({ id, name });
      continue;
    }
    const ids = await readIds(immich, { albumIds: [id] });
    const members = albumUsers.flatMap(({ role, user }) =>
      user.id === account.id ? [] : [{ ...user, isEditor: role === 'editor' }],
    );
    albums.push({ id, name, description, createdAt, members, items: ordered(ids, order, assets) });
  }
  return { albums, foreignAlbums };
}

async function readStacks(immich: Immich): Promise<ImmichLibrary['stacks']> {
  const stacks = await immich.get('stacks', Stacks);
  return stacks.map(({ id, primaryAssetId: primary, assets }) => ({
    id,
    primary,
    others: assets.map((asset) => asset.id).filter((asset) => asset !== primary),
  }));
}

/** Reads what the account of the key has, without its files. */
export async function readLibrary(immich: Immich): Promise<ImmichLibrary> {
  await checkVersion(immich);
  const account = await immich.get('users/me', Me);
  const assets = await readAssets(immich, account);
  return {
    account,
    assets,
    tags: await readTags(immich),
    ...(await readAlbums(immich, account, assets)),
    stacks: await readStacks(immich),
    links: await immich.get('shared-links', SharedLinks),
    partners: await immich.get('partners?direction=shared-by', Partners),
  };
}
