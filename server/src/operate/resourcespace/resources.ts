import { stageFile } from '../../content/assets/insert.ts';
import { discard } from '../../content/assets/receive.ts';
import { bringVersion, recordFile } from '../imports/changed-files.ts';
import { inLanes } from '../imports/lanes.ts';
import { fingerprintOf } from '../imports/report.ts';
import { importAlternative } from './alternatives.ts';
import type { Context } from './context.ts';
import { allResources, type ResourceRow } from './details.ts';
import type { ImportedFields } from './fields.ts';
import type { FileFinder } from './file-paths.ts';
import { type FoundFile, fileNameOf, fileToBring, findOriginal, receiveOriginal } from './originals.ts';
import { addOwnValues } from './own-values.ts';
import { type Placement, placementOf } from './placement.ts';
import { importRelations } from './relations.ts';
import { type AboutAsset, createAsset, updateAsset } from './store-asset.ts';
import { readColumnTime } from './texts.ts';
import { convertValues } from './values.ts';
import { reportVanishedValues } from './vanished.ts';

/** What the import of resources needs besides the context. */
export interface ResourceParts {
  fields: ImportedFields;
  typeOf: ReadonlyMap<number, number>;
  stateOf: ReadonlyMap<number, string>;
  files: FileFinder;
  onProgress(done: number): void;
}

/** A resource as it is about to be written. */
interface Prepared {
  row: ResourceRow;
  found: FoundFile | null;
  placement: Placement;
  about: AboutAsset;
  fingerprint: string;
}

async function prepare(context: Context, parts: ResourceParts, row: ResourceRow): Promise<Prepared> {
  const found = await findOriginal(parts.files, row);
  const placement = await placementOf(context, row);
  const type = row.resource_type ?? 0;
  const { title, values } = convertValues(context, parts.fields, {
    ref: row.ref,
    type,
    values: row.values ?? [],
  });
  addOwnValues(context, parts.fields, row, values);
  const about = {
    title,
    createdAt: readColumnTime(row.creation_date),
    values,
    type: parts.typeOf.get(type),
    state: parts.stateOf.get(row.archive ?? 0),
    archive: row.archive ?? 0,
  };
  return { row, found, placement, about, fingerprint: fingerprintOf(row, found?.mark ?? null, placement) };
}

async function createResource(context: Context, prepared: Prepared): Promise<void> {
  const { deps, ledger, reporter } = context;
  const { row, found, placement, about, fingerprint } = prepared;
  const original = await receiveOriginal(context, row, found);
  try {
    await stageFile(deps.storage, original.received);
    await deps.db.transaction().execute(async (tx) => {
      const id = await createAsset(tx, context, { ...about, original }, placement);
      await ledger.record(tx, 'resource', row.ref, id, fingerprint);
      const { hash } = original.received;
      await recordFile(tx, context, { kind: 'original', ref: row.ref }, { hash, mark: found?.mark ?? '' });
    });
  } finally {
    await discard(original.received.path);
  }
  reporter.count('assets_created');
}

/** Writes what has changed since an earlier run, and brings a changed file as a new version. */
async function updateResource(context: Context, id: string, prepared: Prepared): Promise<void> {
  const { deps, ledger, reporter } = context;
  const { row, found, placement, about, fingerprint } = prepared;
  const key = { kind: 'original', ref: row.ref } as const;
  if (found !== null)
    await bringVersion(context, key, id, fileToBring(context, found, fileNameOf(context, row)));
  else if ((ledger.find('original', row.ref)?.fingerprint ?? '') !== '')
    reporter.vanish('file', row.ref, 'is no longer in the file store; the file here stays');
  await deps.db.transaction().execute(async (tx) => {
    await updateAsset(tx, context, id, about, placement);
    await ledger.record(tx, 'resource', row.ref, id, fingerprint);
  });
  await reportVanishedValues(context, row.ref, id, [...about.values.keys()]);
  reporter.count('assets_changed');
}

async function importResource(context: Context, parts: ResourceParts, row: ResourceRow): Promise<void> {
  const prepared = await prepare(context, parts, row);
  const known = context.ledger.find('resource', row.ref);
  context.reporter.count('resources');
  if (known === undefined) await createResource(context, prepared);
  else if (known.fingerprint !== prepared.fingerprint) await updateResource(context, known.target, prepared);
  for (const alternative of row.alternatives ?? [])
    await importAlternative(context, parts.files, row, alternative, prepared);
}

/** Imports all resources with their files and values, as many at once as there are cores. */
export async function importResources(context: Context, parts: ResourceParts): Promise<void> {
  let done = 0;
  for await (const rows of context.staging.batches<ResourceRow>(allResources, 100)) {
    await inLanes(rows, context.isStopped, async (row) => {
      await importResource(context, parts, row);
      done += 1;
      parts.onProgress(done);
    });
    if (context.isStopped()) return;
  }
  await importRelations(context);
}
