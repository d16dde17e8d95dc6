import { randomUUID } from 'node:crypto';
import { constants, copyFile, cp, utimes } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import type { SystemUser } from '../../platform/database/database-user.ts';
import type { FileOperations } from '../../platform/files/operations.ts';

/** Files of one task, where its decoder finds them. */
interface Handed<T> {
  /** The input of the task with other paths. */
  input: T;
  /**
   * Takes back what the decoder has made, and returns its output with the paths of the caller. Throws ForeignPath when
   * the output names a file that the decoder has not made.
   */
  takeBack<O>(output: O): Promise<O>;
  /** Removes the files of the task. */
  close(): Promise<void>;
}

/** A directory through which one process gets files and returns others. It reaches no other file of the library. */
export interface Cell {
  /** The directory, which exists during tasks; null: there is none. */
  place: string | null;
  /** For its temporary files during a task; null: those of this process. */
  home: string | null;
  /** Hands over the files of one task. The next task begins when they are closed. */
  handOver<T extends object>(input: T): Promise<Handed<T>>;
  /** Shows the nightly sweep that the cell is in use. */
  touch(): Promise<void>;
}

/** The user of the process that receives files, null for our own, and the operations that hand them over. */
export interface Handing {
  user: SystemUser | null;
  operations: FileOperations;
}

/** A decoder has answered with a path outside its directory, which our own code never does. */
export class ForeignPath extends Error {}

/** File systems without hard links, and those that allow no more of them. */
const unlinkable = /^(?:EXDEV|EPERM|EMLINK|ENOTSUP|ENOSYS|EOPNOTSUPP)$/;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Gives a file another name in a cell, or copies it where the file system cannot. */
async function admit(path: string, to: string, { user, operations }: Handing): Promise<void> {
  const from = await operations.realpath(path);
  await operations.link(from, to).catch(async (error: unknown) => {
    if (!unlinkable.test(codeOf(error))) throw error;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  });
  if (user === null) return;
  const { mode, uid } = await operations.stat(to);
  if ((mode & 0o004) !== 0) return;
  // Readable by the group of decoders, which reaches the file only through this name.
  await operations.chown(to, uid, user.gid);
  await operations.chmod(to, (mode & 0o700) | 0o040);
}

/** How many files of a directory are changed concurrently, which takes less processor time than one after another. */
const CHANGED_AT_ONCE = 8;

/**
 * Takes the entries of a directory from the decoder, each directory before its entries, so that it cannot replace one
 * meanwhile. Removes everything but directories and files with one name, because we would follow a link with our own
 * rights.
 */
async function claim(directory: string, handing: Handing): Promise<void> {
  const { user, operations } = handing;
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (user !== null) await operations.chown(directory, uid, gid);
  await operations.chmod(directory, 0o700);
  await pLimit(CHANGED_AT_ONCE).map(await operations.readdir(directory), async (name) => {
    const path = join(directory, name);
    const found = await operations.lstat(path);
    if (found.isDirectory()) await claim(path, handing);
    else if (found.isFile() && found.nlink === 1 && found.uid === (user?.uid ?? found.uid)) {
      if (user !== null) await operations.lchown(path, uid, gid);
      await operations.chmod(path, 0o644);
    } else await operations.rm(path, { force: true });
  });
}

/** Moves a file or directory in place of another. `isOptional`: it need not exist. */
async function move(
  { operations: { rename, rm } }: Handing,
  { from, to, isOptional }: { from: string; to: string; isOptional: boolean },
): Promise<void> {
  await rename(from, to).catch(async (error: unknown) => {
    const code = codeOf(error);
    if (isOptional && code === 'ENOENT') return;
    if (code !== 'EXDEV' && !/^(?:ENOTEMPTY|EEXIST|EISDIR|ENOTDIR)$/.test(code)) throw error;
    await rm(to, { recursive: true, force: true });
    if (code !== 'EXDEV') return rename(from, to);
    await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
    await rm(from, { recursive: true });
  });
}

/** Returns a copy of the output in which every property `path` is below `to` instead of `from`. */
function renamePaths(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamePaths(item, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key !== 'path' || typeof item !== 'string') return [key, renamePaths(item, from, to)];
      if (resolve(item) !== item || !item.startsWith(`${from}${sep}`))
        throw new ForeignPath('a decoder has named a file that it has not made');
      return [key, `${to}${item.slice(from.length)}`];
    }),
  );
}

/** Creates a directory that decoders can enter, but not list or change, whatever the umask. */
async function makePassable(directory: string, { operations }: Handing): Promise<void> {
  await operations.mkdir(directory, { mode: 0o711 });
  await operations.chmod(directory, 0o711);
}

async function makeOwn(directory: string, { user, operations }: Handing): Promise<void> {
  await operations.mkdir(directory, { mode: 0o700 });
  if (user !== null) await operations.chown(directory, user.uid, user.gid);
}

/** The nightly sweep removes what remains. */
async function discard(directory: string, { operations }: Handing): Promise<void> {
  await operations.rm(directory, { recursive: true, force: true }).catch(() => {});
}

/** What a task reads: a file, or several. */
interface Sources {
  path?: string;
  files?: readonly { path: string }[];
}

/**
 * Hands the files of a task over in a directory of its own, because a document could link to neighbouring files. Returns the
 * input with their paths there.
 */
async function handSources(directory: string, { path, files }: Sources, handing: Handing): Promise<Sources> {
  if (path === undefined && files === undefined) return {};
  await makePassable(directory, handing);
  const hand = async (from: string, prefix: string) => {
    const source = join(directory, `${prefix}${basename(from)}`);
    await admit(from, source, handing);
    return source;
  };
  const handed = files?.map(async (file, place) => ({ ...file, path: await hand(file.path, `${place}-`) }));
  return {
    ...(path === undefined ? {} : { path: await hand(path, '') }),
    ...(handed === undefined ? {} : { files: await Promise.all(handed) }),
  };
}

/**
 * Returns where a decoder writes what belongs in `outDir`: inside it if the decoder can reach it, so that it is removed
 * with `outDir` after a kill.
 */
async function placeFor(outDir: string, reachable: string, { operations }: Handing): Promise<string | null> {
  const real = await operations.realpath(outDir);
  if (!real.startsWith(`${reachable}${sep}`)) return null;
  await operations.chmod(real, 0o711);
  return join(real, '.making');
}

/** The directory that decoders can reach, and that of one of them in it. */
interface CellPaths {
  directory: string;
  place: string;
}

async function handOver<T extends object>(
  { directory, place }: CellPaths,
  input: T,
  handing: Handing,
): Promise<Handed<T>> {
  const { path, files, outDir, to }: Sources & { outDir?: string; to?: string } = input;
  const inside = outDir === undefined ? null : await placeFor(outDir, directory, handing);
  const made = inside ?? join(place, 'made');
  const target = outDir ?? (to === undefined ? null : dirname(to));
  const close = async () => {
    await Promise.all([discard(place, handing), inside === null ? null : discard(inside, handing)]);
  };
  try {
    await makePassable(place, handing);
    const sources = { ...(path === undefined ? {} : { path }), ...(files === undefined ? {} : { files }) };
    const [handed] = await Promise.all([
      handSources(join(place, 'source'), sources, handing),
      target === null ? undefined : makeOwn(made, handing),
      makeOwn(join(place, 'home'), handing),
    ]);
    const changed = {
      ...handed,
      ...(outDir === undefined ? {} : { outDir: made }),
      ...(to === undefined ? {} : { to: join(made, basename(to)) }),
    };
    return {
      input: { ...input, ...changed },
      async takeBack(output) {
        if (target !== null) {
          await claim(made, handing);
          const wanted = to === undefined ? await handing.operations.readdir(made) : [basename(to)];
          await pLimit(CHANGED_AT_ONCE).map(wanted, (name) =>
            move(handing, { from: join(made, name), to: join(target, name), isOptional: to !== undefined }),
          );
        }
        // The cast is safe: only paths have changed.
        return renamePaths(output, made, target ?? made) as typeof output;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns a cell in `directory`. It exists during tasks only. */
export function openCell(directory: string, handing: Handing): Cell {
  const place = join(directory, `decoder-${randomUUID()}`);
  return {
    place,
    home: join(place, 'home'),
    handOver: (input) => handOver({ directory, place }, input, handing),
    touch: () => utimes(place, new Date(), new Date()).catch(() => {}),
  };
}
