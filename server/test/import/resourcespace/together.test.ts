import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Deps } from '../../../src/core/deps.ts';
import type { Storage } from '../../../src/platform/storage/storage.ts';
import { type Library, openLibrary } from '../../support/library.ts';
import { optionsFor, runImport, unpackHarbour } from './harbour.ts';

const harbour = await unpackHarbour();

async function openWithBoss(): Promise<Library> {
  const library = await openLibrary();
  await library.join('boss', 'admin');
  return library;
}

async function countOf({ deps }: Library, from: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from ${from}`.execute(deps.db);
  return rows[0]?.n ?? 0;
}

const resources = sql`imported_ids where kind = 'resource'`;
const metadataJobs = sql`graphile_worker.jobs where task_identifier = 'extract'`;

/** What an import leaves in the directory of incoming files. */
async function leftovers({ deps }: Library): Promise<string[]> {
  const names = await readdir(deps.storage.incomingDir);
  return names.filter((name) => !name.startsWith('decoder-'));
}

/** Decoders that render, as those of the command do. All libraries of the worker go on with them, so they stay open. */
const rendering = (library: Library) => (deps: Deps) => ({
  ...deps,
  ladder: deps.ladder,
  decoders: { ...library.deps.decoders, close: async () => {} },
});

/** Refuses imported collections while metadata is being read. */
async function refuseWhileReading({ deps: { db } }: Library): Promise<void> {
  await sql`create function refuse_while_reading() returns trigger language plpgsql as $$
    begin
      if exists (select from graphile_worker.jobs where task_identifier = 'extract' and run_at <= now()) then
        raise exception 'metadata is read before the import ends';
      end if;
      return new;
    end $$`.execute(db);
  await sql`create trigger refuse_while_reading before insert on imported_ids for each row when (new.kind = 'collection')
    execute function refuse_while_reading()`.execute(db);
}

// IMPORT-16, EXTRACT-18
test('has pictures with previews and everything that searches find as soon as it ends', async () => {
  const library = await openWithBoss();
  await refuseWhileReading(library);
  await runImport(library, optionsFor(harbour), rendering(library));
  const pictures = sql`assets a join files f on f.hash = a.file_hash where f.mime = 'image/jpeg'`;
  const shown = sql`${pictures} and f.renditions ?& array['col', 'preview', 'screen', 'hires'] and f.thumbhash is not null
    and f.pixel_width > 0 and a.processing_status = 'ready'`;
  expect(await countOf(library, shown)).toBeGreaterThan(40);
  expect(await countOf(library, shown)).toBe(await countOf(library, pictures));
  expect(
    await countOf(
      library,
      sql`assets a where not exists (select from asset_documents d where d.asset_id = a.id)`,
    ),
  ).toBe(0);
  // Writing a document anew changes nothing.
  const { db } = library.deps;
  const documents = sql`select asset_id, document, gated from asset_documents order by asset_id`;
  const before = await documents.execute(db);
  await sql`select write_asset_documents(array(select id from assets))`.execute(db);
  expect((await documents.execute(db)).rows).toEqual(before.rows);
  // Metadata is read from now on, and not before (refuseWhileReading).
  expect(await countOf(library, sql`imported_ids where kind = 'collection'`)).toBeGreaterThan(0);
  expect(await countOf(library, metadataJobs)).toBeGreaterThan(50);
  expect(await countOf(library, sql`${metadataJobs} and run_at > now()`)).toBe(0);
  expect(await leftovers(library)).toEqual([]);
});

// IMPORT-2, IMPORT-16
test('stores all resources of a transaction or none, and goes on after them', async () => {
  const library = await openWithBoss();
  let moved = 0;
  const breaking = (deps: Deps) => ({
    ...deps,
    ladder: deps.ladder,
    storage: {
      ...deps.storage,
      adoptAll: async (files: Parameters<Storage['adoptAll']>[0]) => {
        moved += files.length;
        if (moved <= 70) return deps.storage.adoptAll(files);
        await deps.storage.adoptAll(files.slice(0, 10));
        throw new Error('the disk is gone');
      },
    },
  });
  await expect(runImport(library, optionsFor(harbour), breaking)).rejects.toThrow('the disk is gone');
  expect(await countOf(library, resources)).toBe(50);
  expect(await leftovers(library)).toEqual([]);
  await runImport(library, optionsFor(harbour));
  expect(await countOf(library, resources)).toBe(80);
  expect(
    await countOf(library, sql`assets a group by file_hash, title, created_at having count(*) > 1`),
  ).toBe(0);
});
