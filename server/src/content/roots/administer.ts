import type { Language } from '@vitrine/contract/languages';
import {
  createRoot,
  deleteRoot,
  listRoots,
  type PathField,
  type Root,
  scanRoot,
  updateRoot,
} from '@vitrine/contract/roots';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { displayName } from '../../access/identities.ts';
import { checkUser } from '../../access/known-accounts.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { checkAssignable } from '../../people/teams/assignable.ts';
import type { Columns, Database, Tx } from '../../platform/database/pool.ts';
import { pageByCode } from '../../platform/http/page.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { compilePattern } from '../path-values/path-patterns.ts';
import { findPathFields } from '../path-values/path-values.ts';
import { checkPath } from './check-path.ts';
import { sayReason } from './reasons.ts';
import { requestScan } from './request.ts';

interface ShownRow
  extends Columns<
    'roots',
    'id' | 'path' | 'team_id' | 'writable' | 'skip' | 'created_at' | 'scan_id' | 'scan_reason' | 'scan_at'
  > {
  owner_ref: number | null;
  owner_name: string | null;
  sensitivity: Root['sensitivity'];
  sidecars: Root['sidecars'];
  fields: PathField[];
  scan_state: Root['scan']['state'];
  scan_counts: Partial<Root['scan']>;
  assets: number;
  missing: number;
}

const noCounts = {
  files: 0,
  added: 0,
  changed: 0,
  moved: 0,
  missing: 0,
  returned: 0,
  failed: 0,
  failures: [],
};

function shown(
  language: Language,
  { scan_id, scan_state, scan_counts, scan_reason, scan_at, ...root }: ShownRow,
): Root {
  const counts = { ...noCounts, ...scan_counts };
  const reason = scan_reason === null ? null : sayReason(language, scan_reason);
  const failures = counts.failures.map((failure) => ({
    ...failure,
    reason: sayReason(language, failure.reason),
  }));
  return { ...root, scan: { id: scan_id, state: scan_state, ...counts, failures, reason, at: scan_at } };
}

/** The caller, and the language of their pages. */
interface Reader {
  caller: SignedIn;
  http: Pick<HttpFacts, 'language'>;
}

async function showRoots(
  db: Database,
  { caller, http }: Reader,
  which: RawBuilder<boolean>,
): Promise<Root[]> {
  const { rows } = await sql<ShownRow>`
    select r.id, r.path, r.owner_user_ref as owner_ref, ${displayName(caller, 'o')} as owner_name, r.team_id,
      r.sensitivity, r.writable, r.sidecars, r.skip, r.fields, r.created_at, r.scan_id, r.scan_state, r.scan_counts,
      r.scan_reason, r.scan_at, coalesce(n.assets, 0) as assets, coalesce(n.missing, 0) as missing
    from roots r left join users o on o.ref = r.owner_user_ref left join lateral (
      select count(*) as assets, count(a.missing_since) as missing from assets a
      where a.root_id = r.id and a.deleted_at is null) n on true
    where ${which} order by r.path`.execute(db);
  const language = readerLanguage(caller, http);
  return rows.map((row) => shown(language, row));
}

async function showRoot(db: Database, reader: Reader, id: string): Promise<Root> {
  const [root] = await showRoots(db, reader, sql`r.id = ${id}`);
  if (root === undefined) throw notFound();
  return root;
}

/** `GET /admin/roots`. */
export const list = handle(listRoots, async ({ db }, { caller, http, query }) => {
  const roots = await showRoots(db, { caller, http }, sql`true`);
  const { items, next_cursor } = pageByCode(
    roots.map((root) => ({ code: root.path, root })),
    query,
  );
  return { status: 200, body: { items: items.map(({ root }) => root), next_cursor } };
});

/** Throws a 400 for a pattern that is not valid, and for a field that assets do not have. */
async function checkFields(tx: Tx, fields: readonly PathField[]): Promise<void> {
  const patterns = fields.map(({ field_code, pattern }) => {
    const read = compilePattern(pattern);
    if ('fault' in read) throw refuse('root-pattern-invalid', { pattern, reason: read.fault });
    return { code: field_code, read };
  });
  const [unknown] = (await findPathFields(tx, patterns)).unknown;
  if (unknown !== undefined) throw refuse('root-field-not-found', { field: unknown });
}

interface GivenRules {
  owner_ref?: number | null;
  team_id?: string | null;
  fields?: PathField[] | null;
}

async function checkRules(
  tx: Tx,
  caller: SignedIn,
  { owner_ref, team_id, fields }: GivenRules,
): Promise<void> {
  if (owner_ref != null) await checkUser(tx, owner_ref);
  if (team_id != null) await checkAssignable(tx, caller, team_id);
  if (fields != null) await checkFields(tx, fields);
}

/** `POST /admin/roots`: names a root and scans it (ROOT-2). */
export const create = handle(createRoot, async ({ db, config }, { caller, http, body }) => {
  const id = await db.transaction().execute(async (tx) => {
    await checkRules(tx, caller, body);
    const path = await checkPath(tx, config, body.path, null);
    const row = await tx
      .insertInto('roots')
      .values({
        path,
        owner_user_ref: body.owner_ref,
        team_id: body.team_id ?? null,
        sensitivity: body.sensitivity,
        writable: body.writable ?? false,
        sidecars: body.sidecars ?? 'read',
        skip: body.skip ?? [],
        fields: JSON.stringify(body.fields ?? []),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await requestScan(tx, row.id);
    await recordEvent(tx, caller, { event: 'system.root.created', metadata: { root: row.id, path } });
    return row.id;
  });
  return { status: 201, body: await showRoot(db, { caller, http }, id) };
});

/** `PATCH /admin/roots/{id}`. */
export const update = handle(updateRoot, async ({ db, config }, { caller, http, params, body }) => {
  await db.transaction().execute(async (tx) => {
    await checkRules(tx, caller, body);
    const { path, owner_ref, fields, ...rest } = patchOf(body, [
      'path',
      'owner_ref',
      'team_id',
      'sensitivity',
      'writable',
      'sidecars',
      'skip',
      'fields',
    ]);
    const changes = {
      ...rest,
      ...(path === undefined ? {} : { path: await checkPath(tx, config, path, params.id) }),
      ...(owner_ref === undefined ? {} : { owner_user_ref: owner_ref }),
      ...(fields === undefined ? {} : { fields: JSON.stringify(fields) }),
    };
    const changed = Object.keys(changes);
    if (changed.length === 0) return;
    const { numUpdatedRows } = await tx
      .updateTable('roots')
      .set(changes)
      .where('id', '=', params.id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notFound();
    await recordEvent(tx, caller, {
      event: 'system.root.changed',
      metadata: { root: params.id, changed: changed.join(', ') },
    });
  });
  return { status: 200, body: await showRoot(db, { caller, http }, params.id) };
});

/** `DELETE /admin/roots/{id}`: its assets stay without their files (ROOT-11). */
export const remove = handle(deleteRoot, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    // A root may have any number of assets.
    await sql`set local statement_timeout = 0`.execute(tx);
    const { rows } = await sql<{ path: string }>`
      select path from roots where id = ${params.id} for update`.execute(tx);
    const [root] = rows;
    if (root === undefined) throw notFound();
    await sql`update assets set missing_since = coalesce(missing_since, now()), root_id = null, root_path = null
      where root_id = ${params.id}`.execute(tx);
    await sql`delete from roots where id = ${params.id}`.execute(tx);
    await recordEvent(tx, caller, {
      event: 'system.root.removed',
      metadata: { root: params.id, path: root.path },
    });
  });
  return { status: 204 };
});

/** `POST /admin/roots/{id}/scan`. */
export const scan = handle(scanRoot, async ({ db }, { params }) => {
  const id = await db.transaction().execute((tx) => requestScan(tx, params.id));
  if (id === null) throw notFound();
  return { status: 202, body: { job_id: id } };
});
