import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Metadata, Unread } from '../../media/metadata/reader.ts';
import type { ExtractedValues } from '../../media/metadata/source.ts';
import { type Sentence, sentence, storedForm } from '../../platform/language/sentence.ts';
import { originalKey } from '../../platform/storage/object-key.ts';

type MetadataDeps = Pick<Deps, 'db' | 'storage' | 'metadata'>;

/** What is stored of a file. */
export interface KeptMetadata {
  sources: ExtractedValues;
  /** Why it could not be read, or not completely, in the form that `sayStored` reads. */
  error: string | null;
}

/**
 * Which stored reading suffices: `any`; `sound`, one that the current reader made without an error; or `none`, the file
 * is always read.
 */
export type Reuse = 'any' | 'sound' | 'none';

interface KeptRow extends KeptMetadata {
  reader: string;
}

async function readFile({ storage, metadata }: MetadataDeps, hash: string): Promise<Metadata | Unread> {
  const key = originalKey(hash);
  const reader = await metadata.name();
  if ((await storage.head(key)) === null)
    return { outcome: 'failed', reader, reason: sentence('the bytes are missing') };
  return storage.withLocalFile(key, (path) => metadata.read(path));
}

/** Returns the fault of a file that could be read in part, and quotes the program that read it. */
const faultOf = ({ fault }: Metadata): Sentence | null =>
  fault === null ? null : sentence('the file is damaged: {reason}', { reason: fault });

/** Stores a reading, if the bytes still have a row. A failed one keeps the previous entries. */
async function keep({ db }: MetadataDeps, hash: string, made: Metadata | Unread): Promise<KeptMetadata> {
  const read = made.outcome === 'read' ? made : null;
  const fault = made.outcome === 'read' ? faultOf(made) : made.reason;
  const error = fault === null ? null : storedForm(fault);
  const sources = JSON.stringify(read?.sources ?? {});
  const raw = JSON.stringify(read?.raw ?? {});
  const { rows } = await sql<KeptMetadata>`
    insert into file_metadata as m (hash, sources, raw, reader, error)
    select hash, ${sources}::jsonb, ${raw}::jsonb, ${made.reader}, ${error} from files where hash = ${hash} for key share
    on conflict (hash) do update set reader = excluded.reader, error = excluded.error, extracted_at = now(),
      sources = case when ${read !== null} then excluded.sources else m.sources end,
      raw = case when ${read !== null} then excluded.raw else m.raw end
    returning m.sources, m.error`.execute(db);
  return rows[0] ?? { sources: {}, error };
}

/** Returns the metadata of these bytes, read now or before; null when the bytes are gone. */
export async function metadataOf(
  deps: MetadataDeps,
  hash: string,
  reuse: Reuse,
): Promise<KeptMetadata | null> {
  const { rows } = await sql<{ kept: KeptRow | null }>`
    select case when m.hash is not null then
      jsonb_build_object('sources', m.sources, 'error', m.error, 'reader', m.reader) end as kept
    from files f left join file_metadata m on m.hash = f.hash where f.hash = ${hash}`.execute(deps.db);
  const [row] = rows;
  if (row === undefined) return null;
  const { kept } = row;
  if (kept !== null && reuse === 'any') return kept;
  if (kept !== null && reuse === 'sound' && kept.error === null) {
    if (kept.reader === (await deps.metadata.name())) return kept;
  }
  return keep(deps, hash, await readFile(deps, hash));
}
