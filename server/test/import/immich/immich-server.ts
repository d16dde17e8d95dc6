import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { listen } from '../../support/listen.ts';

/** A file of Immich, as far as tests vary it. */
export interface FakeAsset {
  id: string;
  bytes: Buffer;
  name: string;
  visibility: string;
  isFavorite: boolean;
  isTrashed: boolean;
  local: string;
  ownerId: string;
  /** The recorded checksum, if it is not that of the bytes. */
  checksum?: string;
  path?: string;
  livePhotoVideoId?: string;
  exif: Record<string, unknown>;
  people: { name: string; isHidden?: boolean }[];
}

interface FakeUser {
  id: string;
  name: string;
  email: string;
}

interface FakeAlbum {
  id: string;
  name: string;
  description: string;
  order: 'asc' | 'desc';
  owner: FakeUser;
  members: { role: 'editor' | 'viewer'; user: FakeUser }[];
  items: string[];
  comments: number;
}

interface FakeLink {
  key: string;
  album?: string;
  assets?: string[];
  password?: string | null;
  expiresAt?: string;
  showMetadata?: boolean;
  allowUpload?: boolean;
  description?: string;
}

/** What the server does instead of answering a request as documented; null answers it. */
type Interference = (request: IncomingMessage, response: ServerResponse) => boolean;

export const key = 'a-key-of-immich';

/** A number of results on a page that makes tests need several. */
const PAGE = 2;

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('base64');

/**
 * Speaks the documented interface of Immich 3 (`open-api/immich-openapi-specs.json`), as far as imports use it. Without
 * `isThird`, albums name their owner as before version 3.
 */
export async function openFakeImmich() {
  const me: FakeUser = { id: randomUUID(), name: 'Ada', email: 'ada@example.org' };
  const assets: FakeAsset[] = [];
  const tags = new Map<string, { id: string; assets: string[] }>();
  const albums: FakeAlbum[] = [];
  const links: FakeLink[] = [];
  const stacks: string[][] = [];
  const partners: FakeUser[] = [];
  const requests: string[] = [];
  const state: {
    version: { major: number; minor: number; patch: number };
    interfere: Interference | null;
    isThird: boolean;
  } = { version: { major: 3, minor: 2, patch: 1 }, interfere: null, isThird: true };

  const assetJson = (asset: FakeAsset) => ({
    id: asset.id,
    ownerId: asset.ownerId,
    type: 'IMAGE',
    originalFileName: asset.name,
    originalPath: asset.path ?? `/data/upload/${asset.name}`,
    checksum: asset.checksum ?? sha1(asset.bytes),
    fileCreatedAt: asset.local,
    localDateTime: asset.local,
    createdAt: '2025-01-02T03:04:05.000Z',
    // Changes without any change of the file.
    updatedAt: new Date().toISOString(),
    isFavorite: asset.isFavorite,
    isTrashed: asset.isTrashed,
    visibility: asset.visibility,
    livePhotoVideoId: asset.livePhotoVideoId ?? null,
    thumbhash: null,
    exifInfo: asset.exif,
    people: asset.people.map((person) => ({ id: randomUUID(), isHidden: false, ...person })),
  });

  function search(query: Record<string, unknown>) {
    const { visibility, withDeleted, withExif, withPeople, tagIds, albumIds, page = 1 } = query;
    const tagged = [...tags]
      .filter(([value]) =>
        [...tags].some(
          ([other, { id }]) =>
            Array.isArray(tagIds) &&
            tagIds.includes(id) &&
            (value === other || value.startsWith(`${other}/`)),
        ),
      )
      .flatMap(([, tag]) => tag.assets);
    const placed = albums.flatMap(({ id, items }) =>
      Array.isArray(albumIds) && albumIds.includes(id) ? items : [],
    );
    const found = assets.filter(
      (asset) =>
        asset.visibility === visibility &&
        (withDeleted === true || !asset.isTrashed) &&
        (tagIds === undefined || tagged.includes(asset.id)) &&
        (albumIds === undefined || placed.includes(asset.id)),
    );
    const start = (Number(page) - 1) * PAGE;
    const items = found.slice(start, start + PAGE).map((asset) => {
      const { exifInfo, people, ...rest } = assetJson(asset);
      return {
        ...rest,
        ...(withExif === true ? { exifInfo } : {}),
        ...(withPeople === true ? { people } : {}),
      };
    });
    const nextPage = start + PAGE < found.length ? String(Number(page) + 1) : null;
    return {
      albums: { total: 0, count: 0, items: [], facets: [] },
      assets: { total: items.length, count: items.length, items, facets: [], nextPage },
    };
  }

  const albumJson = ({ id, name, description, order, owner, members, items }: FakeAlbum) => ({
    id,
    albumName: name,
    description,
    createdAt: '2025-02-03T04:05:06.000Z',
    order,
    shared: members.length > 0,
    assetCount: items.length,
    ...(state.isThird
      ? { albumUsers: [{ role: 'owner', user: owner }, ...members] }
      : { ownerId: owner.id, owner, albumUsers: members, assets: [] }),
  });

  const linkJson = (link: FakeLink) => ({
    id: randomUUID(),
    key: link.key,
    type: link.album === undefined ? 'INDIVIDUAL' : 'ALBUM',
    description: link.description ?? null,
    ...(link.password === undefined ? { password: null } : { password: link.password }),
    expiresAt: link.expiresAt ?? null,
    allowDownload: true,
    allowUpload: link.allowUpload ?? false,
    showMetadata: link.showMetadata ?? true,
    ...(link.album === undefined ? {} : { album: { id: link.album } }),
    assets: (link.assets ?? []).map((id) => ({ id })),
  });

  function answerFor(method: string, { pathname, searchParams }: URL, body: unknown): unknown {
    if (method === 'POST' && pathname === '/api/search/metadata')
      // The body is an object; what is in it is checked where it is used.
      return search(body as Record<string, unknown>);
    if (method !== 'GET') return undefined;
    switch (pathname) {
      case '/api/users/me':
        return me;
      case '/api/tags':
        return [...tags].map(([value, { id }]) => ({ id, value, name: value.split('/').at(-1) }));
      case '/api/albums':
        return albums
          .filter(({ owner, members }) =>
            searchParams.get('shared') === 'true' ? members.length > 0 : owner.id === me.id,
          )
          .map(albumJson);
      case '/api/stacks':
        return stacks.map((ids) => ({
          id: randomUUID(),
          primaryAssetId: ids[0],
          assets: ids.map((id) => ({ id })),
        }));
      case '/api/shared-links':
        return links.map(linkJson);
      case '/api/partners':
        return searchParams.get('direction') === 'shared-by' ? partners : [];
      case '/api/activities/statistics':
        return { comments: albums.find(({ id }) => id === searchParams.get('albumId'))?.comments, likes: 1 };
      default:
        return undefined;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://immich');
    requests.push(`${request.method} ${url.pathname}`);
    if (state.interfere?.(request, response) === true) return;
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (url.pathname === '/api/server/version') return send(200, state.version);
    if (request.headers['x-api-key'] !== key)
      return send(401, { message: 'Invalid API key', statusCode: 401 });
    const original = /^\/api\/assets\/([^/]+)\/original$/.exec(url.pathname)?.[1];
    if (original !== undefined) {
      const asset = assets.find(({ id }) => id === original);
      if (asset === undefined) return send(404, { message: 'Not found', statusCode: 404 });
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': asset.bytes.length,
      });
      response.end(asset.bytes);
      return;
    }
    const body = request.method === 'POST' ? await json(request) : undefined;
    const found = answerFor(request.method ?? '', url, body);
    return found === undefined ? send(404, { message: 'Not found' }) : send(200, found);
  }

  const server = createServer((request, response) => void answer(request, response));
  const port = await listen(server);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  afterAll(close);

  return {
    url: `http://127.0.0.1:${port}`,
    ...{ me, assets, tags, albums, links, stacks, partners, requests, state, close },
    /** Adds a file and returns it. */
    addAsset(bytes: Buffer, more: Partial<FakeAsset> = {}): FakeAsset {
      const asset: FakeAsset = {
        id: randomUUID(),
        bytes,
        name: `IMG_${assets.length}.jpg`,
        visibility: 'timeline',
        isFavorite: false,
        isTrashed: false,
        local: '2024-05-06T07:08:09.000Z',
        ownerId: me.id,
        exif: {},
        people: [],
        ...more,
      };
      assets.push(asset);
      return asset;
    },
    addTag(value: string, ...tagged: readonly FakeAsset[]) {
      tags.set(value, { id: randomUUID(), assets: tagged.map(({ id }) => id) });
    },
    addAlbum(name: string, items: readonly FakeAsset[], more: Partial<FakeAlbum> = {}): FakeAlbum {
      const album: FakeAlbum = {
        id: randomUUID(),
        name,
        description: '',
        order: 'desc',
        owner: me,
        members: [],
        items: items.map(({ id }) => id),
        comments: 0,
        ...more,
      };
      albums.push(album);
      return album;
    },
  };
}
