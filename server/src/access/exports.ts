import { type RawBuilder, sql } from 'kysely';
import { ownAssets } from './assets.ts';
import type { SignedIn } from './caller.ts';
import { readableFields, type SubjectKind } from './field-values.ts';
import { ownTrash } from './trash.ts';

/**
 * What an export has: all of a library, for its operator, or what belongs to one person (EXPORT-10). Content of peers
 * belongs to their libraries.
 */
export type Extent = { readonly kind: 'library' } | { readonly kind: 'person'; readonly caller: SignedIn };

type Predicate = RawBuilder<boolean>;

/** Assets `a`. */
export function exportedAssets(extent: Extent): Predicate {
  if (extent.kind === 'library') return sql`a.origin_peer_id is null`;
  const trashed = sql`exists (select from assets x where x.id = a.id and ${ownTrash(extent.caller, 'owner_user_ref')})`;
  return sql`(a.origin_peer_id is null and (${ownAssets(extent.caller.ref)} or ${trashed}))`;
}

/** Posts `p`. */
export function exportedPosts(extent: Extent): Predicate {
  if (extent.kind === 'library') return sql`p.origin_peer_id is null`;
  return sql`(p.origin_peer_id is null and p.author_user_ref = ${extent.caller.ref})`;
}

/** Collections `c`. */
export function exportedCollections(extent: Extent): Predicate {
  if (extent.kind === 'library') return sql`c.origin_peer_id is null`;
  return sql`(c.origin_peer_id is null and c.owner_user_ref = ${extent.caller.ref})`;
}

/** Fields `d` whose values an export has: for a person, those that they may read on the asset `a`. */
export function exportedFields(extent: Extent, kind: SubjectKind): Predicate {
  return extent.kind === 'library' ? sql`d.subject_kind = ${kind}` : readableFields(extent.caller, kind);
}

/** Comments and whiteboards of an exported post: a person's own only, because the others belong to their authors. */
export function exportedContributions(extent: Extent, author: RawBuilder<unknown>): Predicate {
  return extent.kind === 'library' ? sql`true` : sql`${author} = ${extent.caller.ref}`;
}
