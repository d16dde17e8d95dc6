import { clear, createStore, delMany, entries, get, set, setMany } from 'idb-keyval';
import type { SentAsset } from './sent.ts';

/** A file that is kept until it belongs to a post. */
export interface KeptFile {
  readonly id: string;
  readonly file: File;
  readonly teamId?: string | undefined;
  /** What it became, once it was uploaded. */
  readonly asset?: SentAsset | undefined;
}

/** What is stored beside the bytes, which are written once. */
interface About extends Omit<KeptFile, 'file'> {
  /** When the file was added, in milliseconds. */
  readonly addedAt: number;
  /** The name of the lock that the page holds which uploads the file. */
  readonly page: string;
}

/** Keeps the files of an account that are on their way in the browser, so that a reload or a crash loses none. */
export interface KeptFiles {
  /** Resolves to whether there was room for the file. */
  put(file: KeptFile): Promise<boolean>;
  /** Notes what a file became. */
  arrived(id: string, asset: SentAsset): Promise<void>;
  remove(ids: readonly string[]): void;
  /** Returns the files that no other open page uploads, in the order in which they were added, and takes them over. */
  takeOver(): Promise<readonly KeptFile[]>;
  /** Leaves them to others, who may take them over. */
  release(): void;
  /** Removes all of them, when the account signs out. */
  clear(): void;
}

/** The largest file that is kept. A larger one continues where it stopped when it is chosen again. */
const mostKeptBytes = 1024 ** 3;
/** After this time, nobody comes back for them. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

// Joined, because the build takes templates with several words for texts that people read.
const bytesKey = (id: string) => ['bytes', id].join(' ');
const aboutKey = (id: string) => ['about', id].join(' ');

/** Holds a lock until it is released, or this page is closed. Without locks, every other page counts as closed. */
function holdPage(): { name: string; release: () => void } {
  const name = `vitrine-page-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks?.request(name, () => promise).catch(() => undefined);
  return { name, release: resolve };
}

async function heldPages(): Promise<readonly (string | undefined)[]> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return held.map(({ name }) => name);
}

/** Returns whether the browser has room for so many bytes. Without an estimate, it refuses what does not fit. */
async function hasRoom(bytes: number): Promise<boolean> {
  const { quota = 0, usage = 0 } = (await navigator.storage?.estimate()) ?? {};
  return quota === 0 || bytes * 2 < quota - usage;
}

/** Opens the kept files of an account. A browser that stores nothing keeps nothing. */
export function openKeptFiles(userRef: number): KeptFiles {
  const store = createStore(`vitrine-files-${userRef}`, 'files');
  let own: ReturnType<typeof holdPage> | undefined;
  const page = () => {
    own ??= holdPage();
    return own.name;
  };

  // One change after another, so that nothing is stored after it was removed.
  let changing: Promise<unknown> = Promise.resolve();
  function inTurn<T>(change: () => Promise<T>, otherwise: T): Promise<T> {
    const changed = changing.then(change).catch(() => otherwise);
    changing = changed;
    return changed;
  }

  const erase = (ids: readonly string[]) =>
    delMany(
      ids.flatMap((id) => [bytesKey(id), aboutKey(id)]),
      store,
    );

  async function takeOver(): Promise<readonly KeptFile[]> {
    const [stored, held] = await Promise.all([entries<string, unknown>(store), heldPages()]);
    const byKey = new Map(stored);
    const free = stored
      .filter(([key]) => key.startsWith(aboutKey('')))
      // This module wrote them.
      .map(([, about]) => about as About)
      .filter((about) => about.page === own?.name || !held.includes(about.page));
    const fresh = free.filter(({ addedAt }) => addedAt > Date.now() - keptMs);
    await erase(free.filter((about) => !fresh.includes(about)).map(({ id }) => id));
    await setMany(
      fresh.map((about): [string, About] => [aboutKey(about.id), { ...about, page: page() }]),
      store,
    );
    return fresh
      .toSorted((a, b) => a.addedAt - b.addedAt)
      .flatMap(({ id, teamId, asset }) => {
        const file = byKey.get(bytesKey(id));
        return file instanceof File ? [{ id, file, teamId, asset }] : [];
      });
  }

  return {
    put: ({ file, ...about }) =>
      inTurn(async () => {
        if (file.size > mostKeptBytes || !(await hasRoom(file.size))) return false;
        await set(bytesKey(about.id), file, store);
        await set(aboutKey(about.id), { ...about, addedAt: Date.now(), page: page() }, store);
        return true;
      }, false),
    arrived: (id, asset) =>
      inTurn(async () => {
        // A file that was not kept has no entry.
        const about = await get<About>(aboutKey(id), store);
        if (about !== undefined) await set(aboutKey(id), { ...about, asset }, store);
      }, undefined),
    remove(ids) {
      if (ids.length > 0) void inTurn(() => erase(ids), undefined);
    },
    takeOver: () => inTurn(takeOver, []),
    release() {
      own?.release();
      own = undefined;
    },
    clear: () => void inTurn(() => clear(store), undefined),
  };
}
