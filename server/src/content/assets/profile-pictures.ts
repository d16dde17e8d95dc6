import { type RawBuilder, sql } from 'kysely';

/**
 * Leaves out pictures of profiles that are in no post, unless a list is of one owner (ASSET-41): hundreds of faces would
 * hide the works of a library.
 */
export function withoutProfilePictures({ owner_ref }: { owner_ref?: number }): RawBuilder<boolean>[] {
  if (owner_ref !== undefined) return [];
  return [
    sql`not (a.exposure = 'none' and exists (select from users faces where faces.avatar_asset_id = a.id))`,
    sql`not (a.exposure = 'none' and exists (select from users faces where faces.banner_asset_id = a.id))`,
  ];
}

/** The pictures that `withoutProfilePictures` leaves out, to be read from the accounts. */
export const loneProfilePictures: RawBuilder<boolean> = sql`(a.exposure = 'none' and a.id in (
  select faces.avatar_asset_id from users faces where faces.avatar_asset_id is not null
  union all select faces.banner_asset_id from users faces where faces.banner_asset_id is not null))`;
