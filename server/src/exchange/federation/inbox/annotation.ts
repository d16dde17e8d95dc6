import type { Anchor } from '@vitrine/contract/annotations';
import type { MediaFacts } from '@vitrine/contract/media';
import type { Stroke } from '@vitrine/contract/strokes';
import { sql } from 'kysely';
import { annotatedMembersForPeers } from '../../../access/annotations.ts';
import { checkAnchor } from '../../../content/annotations/check-anchor.ts';
import { versionsOfAsset } from '../../../content/assets/version-rows.ts';
import { keptStrokes } from '../../../content/drawings/strokes.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { Refusal } from '../../../platform/http/refuse.ts';
import { findMirrored } from '../mirror/objects.ts';
import { parseObjectUri } from '../protocol/addresses.ts';
import type { AaNote } from '../protocol/objects.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Receipt } from './receipt.ts';

/** What a comment of a peer is about. */
export interface ReceivedAnnotation {
  asset: string;
  version: number;
  anchor: Anchor;
  strokes: Stroke[] | null;
}

/** Returns the local asset at an address: one of ours by its id, one of the peer by its mirror. */
async function assetAt(tx: Tx, { install, sender }: Receipt, uri: string): Promise<string | null> {
  const at = parseObjectUri(uri);
  if (at?.base === install.url) return at.id;
  return (await findMirrored(tx, sender.peerId, 'asset', uri))?.local_id ?? null;
}

/**
 * Returns the file and the place that a comment on a post is about, in the file as it is now; throws Rejection unless the
 * peer has the file with the post and the file has such a place (FED-100).
 */
export async function readAnnotation(
  tx: Tx,
  receipt: Receipt,
  post: string,
  { asset: uri, anchor, strokes }: NonNullable<AaNote['annotation']>,
): Promise<ReceivedAnnotation> {
  const asset = await assetAt(tx, receipt, uri);
  const { rows } = await sql<{ number: number; mime: string; media: MediaFacts }>`
    select v.number, coalesce(f.mime, '') as mime, coalesce(f.media, '{}') as media
    from posts p join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
      cross join lateral (select v.number, v.file_hash from ${versionsOfAsset} order by v.number desc limit 1) v
      left join files f on f.hash = v.file_hash
    where p.id = ${post} and a.id = ${asset} and ${annotatedMembersForPeers}`.execute(tx);
  const [row] = rows;
  if (asset === null || row === undefined)
    throw new Rejection('unknown_object', 'the file is not in the post');
  try {
    // The facts of a file of a peer come with its bytes.
    if (row.mime !== '') checkAnchor(anchor, row);
    return {
      asset,
      version: row.number,
      anchor,
      strokes: strokes === undefined ? null : keptStrokes(strokes),
    };
  } catch (error) {
    if (error instanceof Refusal) throw new Rejection('malformed', error.message);
    throw error;
  }
}
