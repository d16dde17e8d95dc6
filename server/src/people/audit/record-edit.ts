import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { recordEvent, recordEvents } from './record.ts';

interface Edited {
  kind: 'post' | 'asset' | 'collection';
  id: string;
  /** The account it belongs to; null if that was deleted. */
  owner: number | null;
}

/** An edited object, with what the history of an asset names. */
interface Changed extends Edited {
  properties: readonly string[];
}

/** Records edits of assets for their history (ASSET-40), in one statement. */
async function recordChanges(tx: Tx, caller: SignedIn, edited: readonly Changed[]): Promise<void> {
  const assets = edited.flatMap(({ kind, id, properties }) =>
    kind === 'asset' && properties.length > 0 ? [{ id, properties }] : [],
  );
  if (assets.length === 0) return;
  await sql`insert into asset_changes (asset_id, actor_user_ref, properties)
    select id, ${caller.ref}, properties
    from jsonb_to_recordset(${JSON.stringify(assets)}::jsonb) given (id uuid, properties text[])`.execute(tx);
}

/**
 * Records an edit of content that does not belong to the caller (AUDIT-1), as `post.updated` and the like, with the names of
 * the given properties and without their values (AUDIT-2). Edits of own content are in the
 * history of assets alone.
 */
export async function recordEdit(
  tx: Tx,
  caller: SignedIn,
  edited: Edited,
  body: object & { if_unchanged_since?: unknown },
): Promise<void> {
  const { kind, id, owner } = edited;
  const { if_unchanged_since: _, ...given } = body;
  const isGiven = (name: string, value: unknown) =>
    value != null && !(name.startsWith('clear_') && value === false);
  const changed = Object.entries(given).flatMap(([name, value]) => (isGiven(name, value) ? [name] : []));
  await recordChanges(tx, caller, [{ ...edited, properties: changed }]);
  if (owner === caller.ref) return;
  await recordEvent(tx, caller, {
    event: `${kind}.updated`,
    ...(owner === null ? {} : { subjectUserRef: owner }),
    target: { kind, id },
    metadata: { changed },
  });
}

/**
 * Records an edit of many objects, as `recordEdit` does for one, in one statement. Events name all that was `changed`; the
 * history of an asset leaves out fields, whose values have a history under the rights of the field (VALUE-12).
 */
export async function recordEdits(
  tx: Tx,
  caller: SignedIn,
  edited: readonly Changed[],
  changed: readonly string[],
): Promise<void> {
  await recordChanges(tx, caller, edited);
  const foreign = edited.filter(({ owner }) => owner !== caller.ref);
  const events = foreign.map(({ kind, id, owner }) => ({
    event: `${kind}.updated`,
    ...(owner === null ? {} : { subjectUserRef: owner }),
    target: { kind, id },
    metadata: { changed },
  }));
  await recordEvents(tx, caller, events);
}
