import { relative } from 'node:path';
import type { AsyncSubscription, Event } from '@parcel/watcher';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { folderOf } from '../../platform/files/below.ts';
import { identityAt } from '../root-files/placed.ts';
import { type RootRow, readRoots } from '../root-files/root.ts';
import { enqueueScan } from './request.ts';
import { type Skips, skipsOf } from './skip.ts';
import { MOST_PATH_BYTES } from './walk.ts';

/** How often roots are compared with what is watched, and how long changes are collected. */
const COMPARED_EVERY_MS = 15_000;
const COLLECTED_MS = 500;

/** Notices changes below roots while it is open (ROOT-10). */
export interface RootWatch {
  close(): Promise<void>;
}

interface Watched {
  path: string;
  skip: string;
  /** Another folder is mounted at the path when it differs. */
  identity: string;
  subscription: AsyncSubscription;
}

/** Returns the folders in which these events happened, without those that the root leaves out. */
function changedFolders(root: RootRow, skips: Skips, events: readonly Event[]): Set<string> {
  const folders = new Set<string>();
  for (const { path, type } of events) {
    const below = relative(root.path, path);
    const names = below.split('/');
    if (below === '' || names.some((name, at) => skips(name, names.slice(0, at + 1).join('/')))) continue;
    folders.add(folderOf(Buffer.from(below)).toString());
    // A folder may be gone with everything in it.
    if (type === 'delete') folders.add(below);
  }
  return folders;
}

async function noteChanges({ db }: Pick<Deps, 'db'>, rootId: string, folders: ReadonlySet<string>) {
  const fitting = [...folders]
    .map((folder) => Buffer.from(folder))
    .filter(({ length }) => length <= MOST_PATH_BYTES);
  if (fitting.length === 0) return;
  await sql`insert into root_changes (root_id, folder)
    select ${rootId}, x.folder from unnest(${fitting}::bytea[]) x (folder)
    where exists (select from roots where id = ${rootId})
    on conflict (root_id, folder) do nothing`.execute(db);
  await enqueueScan(db, rootId, false);
}

/** Watches a root, and notes what has changed after a moment in which more may change. */
async function watchRoot(deps: Pick<Deps, 'db' | 'log'>, root: RootRow): Promise<AsyncSubscription> {
  const { subscribe } = await import('@parcel/watcher');
  const skips = skipsOf(root.skip);
  let pending = new Set<string>();
  const note = () => {
    const folders = pending;
    pending = new Set();
    noteChanges(deps, root.id, folders).catch((error: unknown) =>
      deps.log.warn(
        { err: error, root: root.id },
        'changes below a root are not noted; the next scan finds them',
      ),
    );
  };
  return subscribe(root.path, (error, events) => {
    if (error !== null) deps.log.warn({ err: error, root: root.id }, 'a root is not watched completely');
    if (pending.size === 0) setTimeout(note, COLLECTED_MS);
    for (const folder of changedFolders(root, skips, events ?? [])) pending.add(folder);
  });
}

/** Watches every root that is mounted, and follows changes of roots. */
export function watchRoots(deps: Pick<Deps, 'db' | 'log'>): RootWatch {
  const watched = new Map<string, Watched>();
  const end = async (id: string) => {
    const { subscription } = watched.get(id) ?? {};
    watched.delete(id);
    await subscription?.unsubscribe().catch(() => {});
  };
  const follow = async (root: RootRow) => {
    const identity = await identityAt(root.path);
    const skip = root.skip.join('\n');
    const now = watched.get(root.id);
    if (now?.identity === identity && now.path === root.path && now.skip === skip) return;
    await end(root.id);
    if (identity === null) return;
    const subscription = await watchRoot(deps, root);
    watched.set(root.id, { path: root.path, skip, identity, subscription });
  };
  const compare = async () => {
    const roots = await readRoots(deps.db, sql`r.owner_user_ref is not null`);
    for (const id of [...watched.keys()]) if (!roots.some((root) => root.id === id)) await end(id);
    for (const root of roots) {
      await follow(root).catch((error: unknown) =>
        deps.log.warn({ err: error, root: root.id }, 'a root is not watched; scans find its changes'),
      );
    }
  };
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let comparing: Promise<void> = Promise.resolve();
  const repeat = () => {
    // The database may be lost for a while.
    comparing = compare()
      .catch((error: unknown) => deps.log.debug({ err: error }, 'roots cannot be read'))
      .then(() => {
        if (closed) return;
        timer = setTimeout(repeat, COMPARED_EVERY_MS);
        timer.unref();
      });
  };
  repeat();
  return {
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await comparing;
      await Promise.all([...watched.keys()].map(end));
    },
  };
}
