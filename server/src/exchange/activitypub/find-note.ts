import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { noteUri } from './addresses.ts';
import { readNotes } from './notes.ts';
import { readActivityPub } from './site.ts';

/** Returns the address of the note of a post; null if ActivityPub is off or nobody else can read the post (AP-20). */
export async function findNote({ db, config }: Deps, postId: string): Promise<string | null> {
  const { site } = await readActivityPub(db, config);
  if (site === null) return null;
  const [row] = await readNotes(db, sql`p.id = ${postId}`);
  return row === undefined || row.pending ? null : noteUri(site.url, row.actor_id, postId);
}
