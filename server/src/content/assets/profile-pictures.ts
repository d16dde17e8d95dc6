import { type RawBuilder, sql } from 'kysely';

/** Assets other than pictures of profiles that are in no post. */
export const notProfilePicture: RawBuilder<boolean> = sql`(not (a.exposure = 'none' and exists (select from users faces where faces.avatar_asset_id = a.id))
    and not (a.exposure = 'none' and exists (select from users faces where faces.banner_asset_id = a.id)))`;

/**
 * Leaves out pictures of profiles that are in no post, unless a list is of one owner (ASSET-41): hundreds of faces would
 * hide the works of a library.
 */
export function withoutProfilePictures({ owner_ref }: { owner_ref?: number }): RawBuilder<boolean>[] {
  return owner_ref === undefined ? [notProfilePicture] : [];
}

/** The assets that are not `notProfilePicture`, found from the accounts. */
export const loneProfilePictures: RawBuilder<boolean> = sql`(a.exposure = 'none' and a.id in (
  select faces.avatar_asset_id from users faces where faces.avatar_asset_id is not null
  union all select faces.banner_asset_id from users faces where faces.banner_asset_id is not null))`;
