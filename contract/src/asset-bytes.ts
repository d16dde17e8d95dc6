import { Type } from 'typebox';
import { StreamName } from './media.ts';
import { bytes, noContent, operation } from './operation.ts';
import { closed, Uuid } from './values.ts';
import { versionQuery } from './versions.ts';

const idParams = closed({ id: Uuid });

/** `v` makes the address of immutable bytes unique. The server ignores it. */
const bytesQuery = { v: Type.Optional(Type.String()), download: Type.Optional(Type.Boolean()) };
const versionedBytesQuery = Type.Object({ ...bytesQuery, ...versionQuery });

export const getAssetFile = operation({
  id: 'getAssetFile',
  method: 'GET',
  path: '/assets/{id}/file',
  tag: 'Assets',
  summary: 'Get the original file',
  description:
    'Returns the uploaded bytes with the hash as `ETag`. Supports `Range` and `If-None-Match`. Callers who may not get the bytes receive the same 404 as for a missing asset. `v` makes the response immutable for browsers. With `version`, returns an earlier version to callers who may edit the asset. With `preset`, returns the file in the form of that preset (`GET /downloads`), made on the first request; 404 for one that the caller does not have, and 409 for a kind of file that cannot be made into it. With `download`, a library in a bucket may redirect large files to an address that is valid for minutes.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  serves: 'original',
  params: idParams,
  query: Type.Object({
    ...versionedBytesQuery.properties,
    preset: Type.Optional(Type.String({ maxLength: 100 })),
  }),
  responses: {
    200: bytes('application/octet-stream'),
    206: bytes('application/octet-stream'),
    302: noContent,
    304: noContent,
  },
  errors: ['not-found', 'preset-not-for-kind', 'range-not-satisfiable'],
});

export const getAssetVariant = operation({
  id: 'getAssetVariant',
  method: 'GET',
  path: '/assets/{id}/variants/{key}',
  tag: 'Assets',
  summary: 'Get a rendition',
  description:
    'Returns a size of the preview ladder or another rendition that `GET /assets/{id}/media` lists. Returns 404 until processing has made it, and to callers who may not get the bytes. With `version`, returns a rendition of an earlier version to callers who may edit the asset.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  serves: 'rendition',
  params: closed({ id: Uuid, key: Type.String({ minLength: 1, maxLength: 100 }) }),
  query: versionedBytesQuery,
  responses: { 200: bytes('image/webp'), 206: bytes('image/webp'), 304: noContent },
  errors: ['not-found', 'range-not-satisfiable'],
});

export const getAssetStream = operation({
  id: 'getAssetStream',
  method: 'GET',
  path: '/assets/{id}/variants/hls/{name}',
  tag: 'Assets',
  summary: 'Get a part of a video stream',
  description:
    'Returns `master.m3u8` and every file that it references. Returns 404 until the streams are made, and to callers who may not get the bytes.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  serves: 'stream',
  params: closed({ id: Uuid, name: StreamName }),
  query: Type.Object(bytesQuery),
  responses: {
    200: bytes('application/vnd.apple.mpegurl'),
    206: bytes('application/vnd.apple.mpegurl'),
    304: noContent,
  },
  errors: ['not-found', 'range-not-satisfiable'],
});

/** A tile of a Deep Zoom pyramid: `tile` is `{column}_{row}`. */
export const tilePlace = {
  level: Type.String({ minLength: 1, maxLength: 10 }),
  tile: Type.String({ minLength: 1, maxLength: 40 }),
};

export const getAssetTile = operation({
  id: 'getAssetTile',
  method: 'GET',
  path: '/assets/{id}/tiles/{level}/{tile}',
  tag: 'Assets',
  summary: 'Get a Deep Zoom tile',
  description:
    'Returns the tile `{column}_{row}` of a level. Only pictures that are larger than their largest rendition have tiles; `tiles` of `GET /assets/{id}/media` describes them.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  params: closed({ id: Uuid, ...tilePlace }),
  query: Type.Object({ v: Type.Optional(Type.String()) }),
  responses: { 200: bytes('image/jpeg'), 304: noContent },
  errors: ['not-found'],
});
