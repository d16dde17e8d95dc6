import { readMetadataNow } from '../../content/assets/decoding-jobs.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Database } from '../../platform/database/pool.ts';
import { importCollections } from './collections.ts';
import type { Context } from './context.ts';
import { importDiscussions } from './discussions.ts';
import { importFields } from './fields.ts';
import type { FileFinder } from './file-paths.ts';
import { importStates, importTypes } from './kinds.ts';
import { importLinks } from './links.ts';
import { importPeople } from './people.ts';
import { importRequests } from './requests.ts';
import { importResources } from './resources.ts';
import { uncarriedSettings } from './uncarried.ts';
import { reportVanished } from './vanished.ts';

async function importInSteps(
  context: Context,
  files: FileFinder,
  onProgress: (done: number) => void,
): Promise<void> {
  const { run } = context;
  run.step('definitions');
  const typeOf = await importTypes(context);
  const stateOf = await importStates(context);
  const fields = await importFields(context, typeOf);
  run.step('people');
  await importPeople(context);
  run.step('resources');
  await importResources(context, { fields, typeOf, stateOf, files, onProgress });
  run.step('others');
  const steps = [
    () => importDiscussions(context, fields),
    () => importCollections(context, { fields, typeOf }),
    () => importRequests(context),
    () => importLinks(context),
    async () => {
      for (const { kind, id, reason } of await uncarriedSettings(context.staging))
        context.reporter.leaveOut(kind, id, reason);
    },
    () => reportVanished(context),
  ];
  for (const step of steps) {
    if (context.isStopped()) return;
    await step();
  }
}

/** Starts what waits for the import: reading metadata, and comparing pictures. */
async function startFollowing(db: Database): Promise<void> {
  await readMetadataNow(db);
  await enqueue(db, 'fill-fingerprints', {}, { key: 'fill-fingerprints' });
}

/**
 * The steps of an import, each of which goes on where an earlier run was stopped or killed. Metadata is read after the last
 * one, because the service would otherwise compete with the import for the processors (IMPORT-16).
 */
export async function importAll(
  context: Context,
  files: FileFinder,
  onProgress: (done: number) => void,
): Promise<void> {
  try {
    await importInSteps(context, files, onProgress);
  } finally {
    // It begins later by itself if the database is lost.
    await startFollowing(context.deps.db).catch(() => {});
  }
}
