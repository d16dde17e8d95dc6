import { randomUUID } from 'node:crypto';
import {
  chmod,
  chown,
  constants,
  copyFile,
  cp,
  lchown,
  link,
  lstat,
  mkdir,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import type { SystemUser } from '../../platform/database/database-user.ts';

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

/** A decoder has answered with a path outside its directory, which our own code never does. */
export class ForeignPath extends Error {}

/** File systems without hard links, and those that allow no more of them. */
const unlinkable = /^(?:EXDEV|EPERM|EMLINK|ENOTSUP|ENOSYS|EOPNOTSUPP)$/;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Gives a file another name in a cell, or copies it where the file system cannot. */
async function admit(path: string, to: string, user: SystemUser | null): Promise<void> {
  const from = await realpath(path);
  await link(from, to).catch(async (error: unknown) => {
    if (!unlinkable.test(codeOf(error))) throw error;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  });
  if (user === null) return;
  const { mode, uid } = await stat(to);
  if ((mode & 0o004) !== 0) return;
  // Readable by the group of decoders, which reaches the file only through this name.
  await chown(to, uid, user.gid);
  await chmod(to, (mode & 0o700) | 0o040);
}

/** How many files of a directory are changed concurrently, which takes less processor time than one after another. */
const CHANGED_AT_ONCE = 8;

/**
 * Takes the entries of a directory from the decoder, each directory before its entries, so that it cannot replace one
 * meanwhile. Removes everything but directories and files with one name, because we would follow a link with our own
 * rights.
 */
async function claim(directory: string, user: SystemUser | null): Promise<void> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (user !== null) await chown(directory, uid, gid);
  await chmod(directory, 0o700);
  await pLimit(CHANGED_AT_ONCE).map(await readdir(directory), async (name) => {
    const path = join(directory, name);
    const found = await lstat(path);
    if (found.isDirectory()) await claim(path, user);
    else if (found.isFile() && found.nlink === 1 && found.uid === (user?.uid ?? found.uid)) {
      if (user !== null) await lchown(path, uid, gid);
      await chmod(path, 0o644);
    } else await rm(path, { force: true });
  });
}

/** Moves a file or directory in place of another. `isOptional`: it need not exist. */
async function move(from: string, to: string, isOptional: boolean): Promise<void> {
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
        throw new ForeignPath('made its decoder name a file that it has not made');
      return [key, `${to}${item.slice(from.length)}`];
    }),
  );
}

/** Creates a directory that decoders can enter, but not list or change, whatever the umask. */
async function makePassable(directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o711 });
  await chmod(directory, 0o711);
}

async function makeOwn(directory: string, user: SystemUser | null): Promise<void> {
  await mkdir(directory, { mode: 0o700 });
  if (user !== null) await chown(directory, user.uid, user.gid);
}

/** The nightly sweep removes what remains. */
async function discard(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true }).catch(() => {});
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
async function handSources(
  directory: string,
  { path, files }: Sources,
  user: SystemUser | null,
): Promise<Sources> {
  if (path === undefined && files === undefined) return {};
  await makePassable(directory);
  const hand = async (from: string, prefix: string) => {
    const source = join(directory, `${prefix}${basename(from)}`);
    await admit(from, source, user);
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
async function placeFor(outDir: string, reachable: string): Promise<string | null> {
  const real = await realpath(outDir);
  if (!real.startsWith(`${reachable}${sep}`)) return null;
  await chmod(real, 0o711);
  return join(real, '.making');
}

async function handOver<T extends object>(
  directory: string,
  place: string,
  input: T,
  user: SystemUser | null,
): Promise<Handed<T>> {
  const { path, files, outDir, to }: Sources & { outDir?: string; to?: string } = input;
  const inside = outDir === undefined ? null : await placeFor(outDir, directory);
  const made = inside ?? join(place, 'made');
  const target = outDir ?? (to === undefined ? null : dirname(to));
  const close = async () => {
    await Promise.all([discard(place), inside === null ? null : discard(inside)]);
  };
  try {
    await makePassable(place);
    const sources = { ...(path === undefined ? {} : { path }), ...(files === undefined ? {} : { files }) };
    const [handed] = await Promise.all([
      handSources(join(place, 'source'), sources, user),
      target === null ? undefined : makeOwn(made, user),
      makeOwn(join(place, 'home'), user),
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
          await claim(made, user);
          const wanted = to === undefined ? await readdir(made) : [basename(to)];
          await pLimit(CHANGED_AT_ONCE).map(wanted, (name) =>
            move(join(made, name), join(target, name), to !== undefined),
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

/** Returns a cell in `directory` for a process of this user, null: of our own. It exists during tasks only. */
export function openCell(directory: string, user: SystemUser | null): Cell {
  const place = join(directory, `decoder-${randomUUID()}`);
  return {
    place,
    home: join(place, 'home'),
    handOver: (input) => handOver(directory, place, input, user),
    touch: () => utimes(place, new Date(), new Date()).catch(() => {}),
  };
}
