import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { operation } from './operation.ts';
import { Count, closed, page, pageQuery, Timestamp, Titled, Uuid } from './values.ts';

/** What happened to an asset (ASSET-40). */
export const AssetHappening = Type.Enum([
  'created',
  'edited',
  'version_added',
  'field_changed',
  'state_changed',
  'deleted',
  'restored',
  'shared',
  'link_created',
  'link_revoked',
  'downloaded',
  'viewed_through_link',
  'downloaded_through_link',
]);
export type AssetHappening = Static<typeof AssetHappening>;

export const AssetHistoryEntry = closed({
  at: Timestamp,
  /** Absent for visitors of links, the library itself and deleted accounts. */
  who: Type.Optional(PostAuthor),
  what: AssetHappening,
  /** The version of the file that it was about. */
  version: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The names of the properties that were edited. */
  properties: Type.Optional(Type.Array(Type.String())),
  /** The field whose value was changed; its title is the label. */
  field: Type.Optional(Titled),
  /** The account that the asset was shared with. */
  subject: Type.Optional(PostAuthor),
  /** The label of the link. */
  label: Type.Optional(Type.String()),
  /** The note of the version. */
  note: Type.Optional(Type.String()),
  /** How often it was viewed or downloaded through the link, or downloaded by the account, until then. */
  count: Type.Optional(Count),
});
export type AssetHistoryEntry = Static<typeof AssetHistoryEntry>;

export const listAssetHistory = operation({
  id: 'listAssetHistory',
  method: 'GET',
  path: '/assets/{id}/history',
  tag: 'Assets',
  summary: 'List the history of an asset',
  description:
    'Lists what happened to the asset, newest first, for those who may edit it: edits, changes of field values that the caller may read, deletions, shares, links, downloads, and what visitors of links viewed and downloaded. Returns 404 to others.',
  door: 'signedIn',
  scope: 'read',
  params: closed({ id: Uuid }),
  query: closed(pageQuery),
  responses: { 200: page(AssetHistoryEntry) },
  errors: ['not-found'],
});
