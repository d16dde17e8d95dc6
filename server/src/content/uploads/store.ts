import type { Readable } from 'node:stream';
import { DataStore, ERRORS, Upload } from '@tus/server';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { ownUploads } from '../../access/uploads.ts';
import type { Deps } from '../../core/deps.ts';
import { checkQuota } from '../../people/quotas/check.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { requireRoom } from '../../platform/storage/room.ts';

/** Unused uploads expire after this time. */
const UPLOAD_LIFETIME_MS = 7 * 24 * 3600 * 1000;

/** Maximum number of uploads without an asset per account. */
const MOST_UPLOADS = 1000;

/** Returns the tus metadata as JSON for storage. Throws a 400 for NUL, which PostgreSQL cannot store. */
function checkMetadata(metadata: Upload['metadata']): string {
  const text = JSON.stringify(metadata ?? {});
  if (text.length > 10_000) throw refuse('upload-metadata-too-long');
  if (text.includes('\\u0000')) throw refuse('nul-character', { part: 'Upload-Metadata' });
  return text;
}

async function checkCount({ db }: Pick<Deps, 'db'>, caller: SignedIn): Promise<void> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from uploads up
    where ${ownUploads(caller)} and up.used_at is null`.execute(db);
  if ((rows[0]?.count ?? 0) >= MOST_UPLOADS)
    throw refuse('too-many-unfinished-uploads', { max: MOST_UPLOADS });
}

/** Returns the caller's uploads as a store for @tus/server. Uploads of other accounts are not found. */
export function storeFor(deps: Pick<Deps, 'db' | 'storage' | 'uploads'>, caller: SignedIn): DataStore {
  const { db, storage, uploads } = deps;
  const extensions = [
    'creation',
    'creation-with-upload',
    'creation-defer-length',
    'termination',
    'expiration',
  ];
  return Object.assign(new DataStore(), {
    extensions,
    getExpiration: () => UPLOAD_LIFETIME_MS,
    async create(upload: Upload): Promise<Upload> {
      const metadata = checkMetadata(upload.metadata);
      await checkCount(deps, caller);
      await requireRoom(storage, upload.size ?? 0);
      await uploads.begin(upload.id);
      const insert = async (tx: Tx) => {
        await sql`insert into uploads (id, owner_user_ref, size_bytes, metadata, expires_at)
          values (${upload.id}, ${caller.ref}, ${upload.size ?? null}, ${metadata}::jsonb,
            now() + make_interval(secs => ${UPLOAD_LIFETIME_MS / 1000}))`.execute(tx);
        await checkQuota(tx, caller.ref);
      };
      try {
        await db.transaction().execute(insert);
      } catch (error) {
        await uploads.remove(upload.id);
        throw error;
      }
      return upload;
    },
    async getUpload(id: string): Promise<Upload> {
      const { rows } = await sql<{
        size: number | null;
        offset: number;
        metadata: NonNullable<Upload['metadata']>;
        created_at: string;
      }>`select up.size_bytes as size, up.received_bytes as offset, up.metadata, up.created_at from uploads up
        where up.id = ${id} and ${ownUploads(caller)}`.execute(db);
      const [row] = rows;
      if (row === undefined) throw ERRORS.FILE_NOT_FOUND;
      const { size, offset, metadata, created_at } = row;
      return new Upload({
        id,
        offset,
        creation_date: created_at,
        ...(size === null ? {} : { size }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      });
    },
    write: (stream: Readable, id: string, offset: number) => uploads.append(id, offset, stream),
    async declareUploadLength(id: string, size: number): Promise<void> {
      await requireRoom(storage, size);
      await db.transaction().execute(async (tx) => {
        await sql`update uploads up set size_bytes = ${size}
          where up.id = ${id} and up.size_bytes is null and ${ownUploads(caller)}`.execute(tx);
        await checkQuota(tx, caller.ref);
      });
    },
    async remove(id: string): Promise<void> {
      const { numAffectedRows } = await sql`delete from uploads up
        where up.id = ${id} and ${ownUploads(caller)}`.execute(db);
      if (numAffectedRows !== 1n) throw ERRORS.FILE_NOT_FOUND;
      await uploads.remove(id);
    },
  });
}
