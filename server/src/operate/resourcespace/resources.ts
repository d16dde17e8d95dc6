import {
  discardPrepared,
  type PreparedFile,
  type RenderTurns,
  renderNew,
  renderTurns,
} from '../../content/assets/render-ahead.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { bringVersion } from '../imports/changed-files.ts';
import { inLanes } from '../imports/lanes.ts';
import { fingerprintOf } from '../imports/report.ts';
import { inStages } from '../imports/stages.ts';
import { importAlternative } from './alternatives.ts';
import type { Context } from './context.ts';
import { pageOfResources, type ResourceRow } from './details.ts';
import type { ImportedFields } from './fields.ts';
import type { FileFinder, FoundFile } from './file-paths.ts';
import { fileNameOf, fileToBring, findOriginal, type Original, receiveOriginal } from './originals.ts';
import { addOwnValues } from './own-values.ts';
import { type Placement, placementOf } from './placement.ts';
import { importRelations } from './relations.ts';
import { type AboutAsset, createAssets, updateAsset } from './store-asset.ts';
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
  /** Its file, if it is new. */
  original: Original | null;
}

/** Reads a resource, and its file if it is new. */
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
  const isNew = context.ledger.find('resource', row.ref) === undefined;
  const original = isNew ? await receiveOriginal(context, row, found) : null;
  const fingerprint = fingerprintOf(row, found?.mark ?? null, placement);
  return { row, found, placement, about, fingerprint, original };
}

/** A new resource with its file. */
interface NewResource extends Prepared {
  fileName: string;
  file: PreparedFile;
}

/** Creates resources that are new, in one transaction. */
async function createResources(context: Context, resources: readonly NewResource[]): Promise<void> {
  const { deps, ledger, reporter } = context;
  if (resources.length === 0) return;
  await deps.db.transaction().execute(async (tx) => {
    const ids = await createAssets(tx, context, resources);
    const entries = resources.map(({ row, fingerprint }, place) => ({
      id: row.ref,
      target: ids[place] ?? '',
      fingerprint,
    }));
    await ledger.recordAll(tx, 'resource', entries);
    const files = resources.map(({ row, file, found }) => ({
      id: row.ref,
      target: file.received.hash,
      fingerprint: found?.mark ?? '',
    }));
    await ledger.recordAll(tx, 'original', files);
  });
  reporter.count('assets_created', resources.length);
}

/** Writes what has changed since an earlier run, and brings a changed file as a new version. */
async function updateResource(context: Context, id: string, prepared: Prepared): Promise<void> {
  const { deps, ledger, reporter } = context;
  const { row, found, placement, about, fingerprint } = prepared;
  const key = { kind: 'original', ref: row.ref } as const;
  if (found !== null)
    await bringVersion(context, key, id, fileToBring(context, found, fileNameOf(context, row)));
  else if ((ledger.find('original', row.ref)?.fingerprint ?? '') !== '')
    reporter.vanish('file', row.ref, sentence('is no longer in the file store; the file here stays'));
  await deps.db.transaction().execute(async (tx) => {
    await updateAsset(tx, context, id, about, placement);
    await ledger.record(tx, 'resource', row.ref, id, fingerprint);
  });
  await reportVanishedValues(context, row.ref, id, [...about.values.keys()]);
  reporter.count('assets_changed');
}

/** Resources per transaction. */
const TOGETHER = 50;

/** Resources that were read, and the new ones among them with their files. */
interface Batch {
  all: readonly Prepared[];
  fresh: readonly NewResource[];
  /** The directory of the renditions of their files, once there are any. */
  directory: string | null;
}

function discardBatch({ fresh, directory }: Batch): void {
  discardPrepared(
    fresh.map(({ file }) => file),
    directory,
  );
}

/** How many resources are read concurrently: most of the time they wait for a disk. */
const READ_AT_ONCE = 8;

async function readBatch(
  context: Context,
  parts: ResourceParts,
  rows: readonly ResourceRow[],
): Promise<Batch> {
  const all: Prepared[] = [];
  const fresh: NewResource[] = [];
  const read = async (row: ResourceRow) => {
    const prepared = await prepare(context, parts, row);
    all.push(prepared);
    if (prepared.original === null) return;
    const { received, fileName } = prepared.original;
    fresh.push({ ...prepared, fileName, file: { received, made: null } });
  };
  const batch = { all, fresh, directory: null };
  try {
    await inLanes(rows, context.isStopped, read, READ_AT_ONCE);
    return batch;
  } catch (error) {
    discardBatch(batch);
    throw error;
  }
}

async function* readBatches(context: Context, parts: ResourceParts): AsyncGenerator<Batch> {
  for await (const rows of context.staging.pages<ResourceRow>(pageOfResources, TOGETHER)) {
    yield await readBatch(context, parts, rows);
    if (context.isStopped()) return;
  }
}

/** Renders the files of new resources, except those of the batches before, which are not written yet. */
async function renderBatch(
  { deps, owner, isStopped }: Context,
  { batch, before, turns }: { batch: Batch; before: readonly Batch[]; turns: RenderTurns },
): Promise<void> {
  const underWay = new Set(before.flatMap(({ fresh }) => fresh.map(({ file }) => file.received.hash)));
  const files = batch.fresh.map(({ file }) => file);
  batch.directory = await renderNew(deps, files, { owner: owner.ref, underWay, isStopped, turns });
}

/** Writes a batch: new resources together, then what has changed, and alternative files. */
async function writeBatch(context: Context, parts: ResourceParts, batch: Batch): Promise<void> {
  const { ledger, reporter, isStopped } = context;
  try {
    await createResources(context, batch.fresh);
  } finally {
    discardBatch(batch);
  }
  await inLanes(batch.all, isStopped, async (prepared) => {
    const { row, fingerprint, original } = prepared;
    reporter.count('resources');
    const known = ledger.find('resource', row.ref);
    if (original === null && known !== undefined && known.fingerprint !== fingerprint)
      await updateResource(context, known.target, prepared);
    for (const alternative of row.alternatives ?? [])
      await importAlternative(context, parts.files, row, alternative, prepared);
    parts.onProgress(1);
  });
}

/**
 * Imports all resources with their files and values, many in one transaction. While they are written, the files of the next
 * ones are rendered, and those after them are read (IMPORT-16).
 */
export async function importResources(context: Context, parts: ResourceParts): Promise<void> {
  let done = 0;
  const onProgress = (more: number) => {
    done += more;
    parts.onProgress(done);
  };
  const turns = renderTurns();
  await inStages(readBatches(context, parts), {
    prepare: (batch, before) => renderBatch(context, { batch, before, turns }),
    write: (batch) => writeBatch(context, { ...parts, onProgress }, batch),
    discard: discardBatch,
  });
  if (!context.isStopped()) await importRelations(context);
}
