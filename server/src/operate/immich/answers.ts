import { nullable } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';

/**
 * The responses of Immich 1.133 to 3 (`POST /search/metadata`, `GET /albums` and so on) with the properties that an import
 * reads. Others are ignored.
 */

const Id = Type.String({ pattern: '^[0-9a-fA-F-]{36}$' });
const text = Type.Optional(nullable(Type.String()));
const number = Type.Optional(nullable(Type.Number()));

export const Version = Type.Object({ major: Type.Integer(), minor: Type.Integer() });

export const Account = Type.Object({ id: Id, name: Type.String(), email: Type.String() });
export type Account = Static<typeof Account>;

export const Asset = Type.Object({
  id: Id,
  ownerId: Id,
  type: Type.String(),
  originalFileName: Type.String(),
  originalPath: Type.Optional(Type.String()),
  /** SHA-1 in Base64; of a file in an external library that of its path. */
  checksum: Type.String(),
  fileCreatedAt: Type.String(),
  /** The time on the photographer's clock, written as if it were UTC. */
  localDateTime: Type.String(),
  createdAt: Type.Optional(Type.String()),
  isFavorite: Type.Boolean(),
  isTrashed: Type.Boolean(),
  visibility: Type.String(),
  livePhotoVideoId: Type.Optional(nullable(Id)),
  exifInfo: Type.Optional(
    Type.Object({
      description: text,
      city: text,
      country: text,
      dateTimeOriginal: text,
      timeZone: text,
      latitude: number,
      longitude: number,
      rating: number,
    }),
  ),
  people: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), isHidden: Type.Optional(Type.Boolean()) })),
  ),
});
export type Asset = Static<typeof Asset>;

export const SearchPage = Type.Object({
  assets: Type.Object({ items: Type.Array(Asset), nextPage: Type.Optional(nullable(Type.String())) }),
});

/** The same, where only the ids matter. */
export const IdPage = Type.Object({
  assets: Type.Object({
    items: Type.Array(Type.Object({ id: Id })),
    nextPage: Type.Optional(nullable(Type.String())),
  }),
});

/** A tag; `value` is its path, such as `Family/Children`. */
export const Tags = Type.Array(Type.Object({ id: Id, value: Type.String() }));

export const Albums = Type.Array(
  Type.Object({
    id: Id,
    albumName: Type.String(),
    description: Type.String(),
    createdAt: Type.String(),
    order: Type.Optional(nullable(Type.String())),
    /** Before version 3; afterwards the owner is among `albumUsers`. */
    ownerId: Type.Optional(Id),
    albumUsers: Type.Array(Type.Object({ role: Type.String(), user: Account })),
  }),
);

export type ListedAlbum = Static<typeof Albums>[number];

export const Stacks = Type.Array(
  Type.Object({ id: Id, primaryAssetId: Id, assets: Type.Array(Type.Object({ id: Id })) }),
);

export const SharedLinks = Type.Array(
  Type.Object({
    id: Id,
    key: Type.String(),
    description: text,
    /** Absent if the server does not say. */
    password: text,
    expiresAt: text,
    allowDownload: Type.Boolean(),
    allowUpload: Type.Boolean(),
    showMetadata: Type.Boolean(),
    album: Type.Optional(nullable(Type.Object({ id: Id }))),
    assets: Type.Array(Type.Object({ id: Id })),
  }),
);
export type SharedLink = Static<typeof SharedLinks>[number];

export const Partners = Type.Array(Account);

export const Activities = Type.Object({ comments: Type.Integer() });
