import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { insertAsset, stageFile, storeFile } from '../../content/assets/insert.ts';
import { baseName, discard, type Received, receive } from '../../content/assets/receive.ts';
import type { TypedValue } from '../../content/fields/values/typed-value.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { accountOf, type Context } from './context.ts';
import { type AlternativeRow, allResources, type ResourceRow } from './details.ts';
import { type Exposure, exposureOf } from './exposure.ts';
import type { ImportedFields } from './fields.ts';
import { type FileFinder, hasChecksum } from './file-paths.ts';
import { historyText, ratingsText, recordsText } from './history.ts';
import { keepMembers, keepTeam } from './people.ts';
import { fingerprintOf } from './report.ts';
import { rightsOf } from './rights.ts';
import { labelOf, readColumnTime } from './texts.ts';
import { convertValues, writeValues } from './values.ts';

/** What the import of resources needs besides the context. */
export interface ResourceParts {
  fields: ImportedFields;
  typeOf: ReadonlyMap<number, number>;
  stateOf: ReadonlyMap<number, string>;
  files: FileFinder;
  onProgress(done: number): void;
}

/** A file of a resource: where it is, and its size and time, which tell whether it has changed since an earlier run. */
interface FoundFile {
  path: string;
  mark: string;
}

async function markOf(path: string): Promise<FoundFile> {
  const { size, mtimeMs } = await stat(path);
  return { path, mark: `${size} ${Math.floor(mtimeMs)}` };
}

async function findOriginal({ files }: ResourceParts, row: ResourceRow): Promise<FoundFile | null> {
  const isSynced = row.file_path !== null && row.file_path.trim() !== '';
  const path = isSynced
    ? await files.synced(row.file_path ?? '')
    : row.file_extension === null || row.file_extension === ''
      ? null
      : await files.original(row.ref, row.file_extension);
  return path === null ? null : markOf(path);
}

/** The name of a file for people; the name that it was uploaded with is a value of a field, which not everyone may read. */
function fileNameOf({ plan, installation }: Context, row: ResourceRow): string {
  const field = plan.fields.find((own) => own.field.ref === installation.fileNameField);
  const given = row.values?.find(({ field: ref }) => ref === installation.fileNameField)?.name ?? '';
  if (field?.readers === null && given.trim() !== '') return baseName(given);
  return `resource-${row.ref}.${row.file_extension ?? 'txt'}`;
}

/** Returns the team of an exposure, or null for none. */
async function teamOf(context: Context, { audience: profiles, kind }: Exposure): Promise<string | null> {
  if (profiles.length === 0 || kind === 'everyone' || kind === 'closed') return null;
  const { audience } = context.plan.survey;
  const users = profiles.flatMap((at) => audience.members[at] ?? []).toSorted((a, b) => a - b);
  const groups = [...new Set(profiles.map((at) => audience.profiles[at]?.group ?? 0))].toSorted(
    (a, b) => a - b,
  );
  const [group] = groups;
  const ofGroup = context.installation.users.filter((user) => user.group === group).map(({ ref }) => ref);
  const isWhole = groups.length === 1 && ofGroup.length === users.length;
  const team = isWhole ? context.ledger.find('team', group ?? 0)?.target : undefined;
  if (team !== undefined) return team;
  const key = fingerprintOf(groups, isWhole ? [] : users).slice(0, 16);
  const name = groups.map((ref) => context.installation.groups.get(ref)?.label ?? `Group ${ref}`).join(' + ');
  const made = context.teams.get(key) ?? makeAudience(context, key, name, users);
  context.teams.set(key, made);
  return made;
}

/** Creates the team of an audience, or finds it, and makes the accounts its members. */
async function makeAudience(
  context: Context,
  key: string,
  name: string,
  users: readonly number[],
): Promise<string> {
  const id = await context.deps.db
    .transaction()
    .execute((tx) => keepTeam(tx, context, 'audience', key, { name, slug: `rs-audience-${key}` }));
  await keepMembers(context, id, users);
  return id;
}

const sensitivityOf = {
  everyone: 'org',
  withheld: 'restricted',
  hidden: 'posts',
  closed: 'restricted',
} as const;

function sensitivity({ kind }: Exposure, team: string | null) {
  return kind === 'withheld' && team !== null ? 'team' : sensitivityOf[kind];
}

/** The library's status for an archive state. */
function statusOf(archive: number): 'active' | 'draft' | 'archived' {
  if (archive === 0) return 'active';
  return archive < 0 ? 'draft' : 'archived';
}

/** Shares an asset with the accounts that see it by themselves, and withdraws what an earlier run gave and they lost. */
async function keepShares(tx: Tx, context: Context, assetId: string, { readers }: Exposure): Promise<void> {
  const shares = readers.flatMap(({ user, expires }) => {
    const account = accountOf(context, user);
    return account === null ? [] : [{ account, expires }];
  });
  const accounts = context.installation.users.flatMap(({ ref }) => accountOf(context, ref) ?? []);
  await sql`delete from asset_shares where asset_id = ${assetId} and shared_by_user_ref = ${context.owner.ref}
    and user_ref = any(${accounts}::bigint[]) and user_ref <> all(${shares.map(({ account }) => account)}::bigint[])`.execute(
    tx,
  );
  if (shares.length === 0) return;
  await sql`insert into asset_shares (asset_id, user_ref, shared_by_user_ref, expires_at)
    select ${assetId}::uuid, account, ${context.owner.ref}::bigint, expires::timestamptz
    from jsonb_to_recordset(${JSON.stringify(shares)}::jsonb) as x (account bigint, expires text)
    on conflict (asset_id, user_ref) do nothing`.execute(tx);
}

/** Values that are not nodes. */
function addOwnValues(
  context: Context,
  { own }: ImportedFields,
  row: ResourceRow,
  values: Map<string, TypedValue>,
): void {
  const { installation, reporter } = context;
  const text = (id: string, value: string) => {
    if (value !== '') values.set(id, { kind: 'text', text: value.slice(0, 50_000).toWellFormed() });
  };
  const { text: history, isCut } = historyText(installation, row.log ?? []);
  if (isCut) reporter.change('history', row.ref, 'only the newest entries fit into the field');
  text(own.history, history);
  text(own.ratings, ratingsText(installation, row.ratings ?? []));
  text(own.licences, recordsText(row.licences ?? []));
  text(own.consents, recordsText(row.consents ?? []));
  const contributor = installation.users.find(({ ref }) => ref === row.created_by);
  if (row.created_by !== null)
    text(own.contributor, contributor?.username ?? `user ${row.created_by}, deleted`);
  if ((row.user_rating_count ?? 0) > 0 && row.user_rating !== null)
    values.set(own.rating, { kind: 'num', num: row.user_rating });
  if (row.geo_lat !== null && row.geo_long !== null) {
    values.set(own.latitude, { kind: 'num', num: row.geo_lat });
    values.set(own.longitude, { kind: 'num', num: row.geo_long });
  }
}

/** Makes a small text of a resource without a file, so that its values have an asset. */
function standIn(context: Context, ref: number, reason: string): Promise<Received> {
  return receive(
    Readable.from([Buffer.from(`ResourceSpace resource ${ref}: ${reason}\n`)]),
    context.deps.storage,
  );
}

interface Original {
  received: Received;
  fileName: string;
}

async function receiveOriginal(
  context: Context,
  row: ResourceRow,
  found: FoundFile | null,
): Promise<Original> {
  const { deps, reporter } = context;
  if (found !== null) {
    const received = await receive(createReadStream(found.path), deps.storage);
    reporter.count('files');
    if (row.file_checksum !== null && row.file_checksum !== '') {
      const { hashes } = reporter.report;
      hashes.compared += 1;
      if (await hasChecksum(found.path, row.file_checksum)) hashes.equal += 1;
      else hashes.different.push(String(row.ref));
    }
    return { received, fileName: fileNameOf(context, row) };
  }
  const hadFile = row.no_file !== 1 && (row.file_extension ?? '') !== '';
  if (hadFile)
    reporter.leaveOut('file', row.ref, 'is missing in the file store; the asset has a text in its place');
  else reporter.change('resource', row.ref, 'has no file; the asset has a text in its place');
  const reason = hadFile ? 'its file was missing when it was imported' : 'it has no file';
  return { received: await standIn(context, row.ref, reason), fileName: `resource-${row.ref}.txt` };
}

/** How the asset of a resource is opened, and what it belongs to. */
interface Placement {
  exposure: Exposure;
  team: string | null;
  owner: number;
}

async function placementOf(context: Context, row: ResourceRow): Promise<Placement> {
  const { plan, installation, today, reporter } = context;
  const exposure = exposureOf(rightsOf(row), plan.survey.audience, installation.access, today);
  if (exposure.isNarrowed)
    reporter.change('access', row.ref, 'some accounts that saw a restricted view no longer see it');
  const contributor = exposure.contributorReads ? accountOf(context, row.created_by) : null;
  return { exposure, team: await teamOf(context, exposure), owner: contributor ?? context.owner.ref };
}

interface StoredAsset {
  original: Original;
  title: string | null;
  createdAt: string | null;
  values: ReadonlyMap<string, TypedValue>;
  type: number | undefined;
  state: string | undefined;
  archive: number;
}

/** Creates an asset with its values and readers, in the transaction that records it. */
async function createAsset(
  tx: Tx,
  context: Context,
  asset: StoredAsset,
  { exposure, team, owner }: Placement,
): Promise<string> {
  const { deps } = context;
  const { original, title, createdAt, values, type, state, archive } = asset;
  const { hash, mime, kind } = original.received;
  await storeFile(tx, deps.storage, original.received);
  const id = await insertAsset(tx, {
    ownerRef: owner,
    ladderKeys: keysOf(deps.ladder),
    hash,
    mime,
    kind,
    fileName: original.fileName,
    fields: {
      title: title ?? '',
      sensitivity: sensitivity(exposure, team),
      team_id: team,
      status: statusOf(archive),
      ...(type === undefined ? {} : { asset_type: type }),
    },
  });
  await sql`update assets set created_at = coalesce(${createdAt}::timestamptz, created_at), state_id = coalesce(${state ?? null}::uuid, state_id)
    where id = ${id}`.execute(tx);
  await writeValues(tx, id, values);
  await keepShares(tx, context, id, exposure);
  return id;
}

/** Writes what has changed since an earlier run. The file stays: a changed one is reported. */
async function updateAsset(
  tx: Tx,
  context: Context,
  id: string,
  asset: StoredAsset,
  placement: Placement,
): Promise<void> {
  const { exposure, team } = placement;
  await sql`update assets set title = ${asset.title ?? ''}, sensitivity = ${sensitivity(exposure, team)}, team_id = ${team}::uuid,
      status = ${statusOf(asset.archive)}, state_id = coalesce(${asset.state ?? null}::uuid, state_id),
      asset_type = coalesce(${asset.type ?? null}::integer, asset_type), updated_at = now()
    where id = ${id}`.execute(tx);
  await writeValues(tx, id, asset.values);
  await keepShares(tx, context, id, exposure);
}

async function importResource(context: Context, parts: ResourceParts, row: ResourceRow): Promise<void> {
  const { deps, ledger, reporter } = context;
  const found = await findOriginal(parts, row);
  const placement = await placementOf(context, row);
  const { title, values } = convertValues(context, parts.fields, {
    ref: row.ref,
    type: row.resource_type ?? 0,
    values: row.values ?? [],
  });
  addOwnValues(context, parts.fields, row, values);
  const fingerprint = fingerprintOf(row, found?.mark ?? null, placement);
  const known = ledger.find('resource', row.ref);
  const about = {
    title,
    createdAt: readColumnTime(row.creation_date),
    values,
    type: parts.typeOf.get(row.resource_type ?? 0),
    state: parts.stateOf.get(row.archive ?? 0),
    archive: row.archive ?? 0,
  };
  reporter.count('resources');
  if (known === undefined) {
    const original = await receiveOriginal(context, row, found);
    try {
      await stageFile(deps.storage, original.received);
      await deps.db.transaction().execute(async (tx) => {
        const id = await createAsset(tx, context, { ...about, original }, placement);
        await ledger.record(tx, 'resource', row.ref, id, fingerprint);
      });
    } finally {
      await discard(original.received.path);
    }
    reporter.count('assets_created');
  } else if (known.fingerprint !== fingerprint) {
    await deps.db.transaction().execute(async (tx) => {
      const original = {
        received: { path: '', hash: '', sizeBytes: 0, mime: '', extension: null, kind: 'other' as const },
        fileName: '',
      };
      await updateAsset(tx, context, known.target, { ...about, original }, placement);
      await ledger.record(tx, 'resource', row.ref, known.target, fingerprint);
    });
    reporter.count('assets_changed');
  }
  for (const alternative of row.alternatives ?? [])
    await importAlternative(context, parts, row, alternative, { placement, about });
}

function describe({ description, alt_type: type }: AlternativeRow): string {
  const lines = [description ?? '', (type ?? '') === '' ? '' : `Type: ${type}`];
  return lines.filter((line) => line !== '').join('\n');
}

/** Imports an alternative file as an asset of its own, opened like its resource, or as an earlier version. */
async function importAlternative(
  context: Context,
  { files }: ResourceParts,
  row: ResourceRow,
  alternative: AlternativeRow,
  { placement, about }: { placement: Placement; about: Omit<StoredAsset, 'original'> },
): Promise<void> {
  const { deps, ledger, reporter, plan } = context;
  const main = ledger.find('resource', row.ref)?.target ?? '';
  if (ledger.find('alternative', alternative.ref) !== undefined) return;
  const extension = alternative.file_extension ?? '';
  const path = await files.alternative(row.ref, alternative.ref, extension);
  const name = labelOf(alternative.name ?? '', context.installation.language);
  if (path === null) {
    const what = [name, alternative.description?.trim() ?? ''].filter((text) => text !== '').join(', ');
    return reporter.leaveOut(
      'alternative',
      alternative.ref,
      `has no file; it was called ${what === '' ? 'nothing' : what}`,
    );
  }
  const received = await receive(createReadStream(path), deps.storage);
  const fileName = baseName(
    alternative.file_name?.trim() || `resource-${row.ref}-${alternative.ref}.${extension}`,
  );
  try {
    await stageFile(deps.storage, received);
    await deps.db.transaction().execute(async (tx) => {
      if (plan.alternatives === 'versions') {
        await storeFile(tx, deps.storage, received);
        await addEarlierVersion(tx, main, {
          hash: received.hash,
          fileName,
          note: [name, alternative.description ?? ''].join(' ').trim(),
          at: readColumnTime(alternative.creation_date),
        });
        return ledger.record(tx, 'alternative', alternative.ref, main);
      }
      const title = [about.title ?? '', name]
        .filter((text) => text !== '')
        .join(' – ')
        .slice(0, 500)
        .toWellFormed();
      const original = { received, fileName };
      const createdAt = readColumnTime(alternative.creation_date) ?? about.createdAt;
      const id = await createAsset(
        tx,
        context,
        { ...about, title, createdAt, values: new Map(), original },
        placement,
      );
      await tx
        .updateTable('assets')
        .set({ description: describe(alternative) })
        .where('id', '=', id)
        .execute();
      await relate(tx, main, id);
      await ledger.record(tx, 'alternative', alternative.ref, id);
    });
    reporter.count('alternatives');
  } finally {
    await discard(received.path);
  }
}

/** Puts a version before the current one. */
async function addEarlierVersion(
  tx: Tx,
  assetId: string,
  { hash, fileName, note, at }: { hash: string; fileName: string; note: string; at: string | null },
): Promise<void> {
  await sql`insert into asset_versions (asset_id, number, file_hash, file_name, created_at, created_by_user_ref)
    select id, 1, file_hash, file_name, created_at, owner_user_ref from assets where id = ${assetId}
      and not exists (select from asset_versions where asset_id = ${assetId})`.execute(tx);
  await sql`update asset_versions v set number = v.number + 1 where v.asset_id = ${assetId}
    and v.number = (select max(number) from asset_versions where asset_id = ${assetId})`.execute(tx);
  await sql`insert into asset_versions (asset_id, number, file_hash, file_name, note, created_at)
    select ${assetId}::uuid, max(number) - 1, ${hash}, ${fileName}, ${note.slice(0, 2000).toWellFormed()}, coalesce(${at}::timestamptz, now())
    from asset_versions where asset_id = ${assetId}`.execute(tx);
}

/** Relates two assets; idempotent. */
async function relate(tx: Tx, one: string, other: string): Promise<void> {
  if (one === other) return;
  const [asset_id = '', related_id = ''] = [one, other].toSorted();
  await tx
    .insertInto('related_assets')
    .values({ asset_id, related_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Imports all resources with their files and values, as many at once as there are cores. */
export async function importResources(context: Context, parts: ResourceParts): Promise<void> {
  let done = 0;
  for await (const rows of context.staging.batches<ResourceRow>(allResources, 100)) {
    const queue = rows.values();
    let hasFailed = false;
    const lane = async () => {
      for (const row of queue) {
        if (context.isStopped() || hasFailed) return;
        try {
          await importResource(context, parts, row);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
        done += 1;
        parts.onProgress(done);
      }
    };
    // Waits for every lane, so that nothing is written after an error has been reported.
    const ended = await Promise.allSettled(Array.from({ length: availableParallelism() }, lane));
    for (const lane of ended) if (lane.status === 'rejected') throw lane.reason;
    if (context.isStopped()) return;
  }
  const related = await context.staging.query<{ resource: number; related: number }>(
    'select distinct resource, related from rs_resource_related where resource > 0 and related > 0',
  );
  await context.deps.db.transaction().execute(async (tx) => {
    for (const pair of related) {
      const [one, other] = [pair.resource, pair.related].map(
        (ref) => context.ledger.find('resource', ref)?.target,
      );
      if (one === undefined || other === undefined)
        context.reporter.leaveOut(
          'relation',
          `${pair.resource}-${pair.related}`,
          'one of the resources does not exist',
        );
      else await relate(tx, one, other);
    }
  });
  context.reporter.count('related', related.length);
}
