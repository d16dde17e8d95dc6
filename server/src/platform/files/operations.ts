import {
  chmodSync,
  chownSync,
  closeSync,
  fsync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { promisify } from 'node:util';

/** Operations on local files that take a moment unless the disk is slow, as `node:fs/promises` has them. */
export interface FileOperations {
  chmod(path: string, mode: number): Promise<void>;
  chown(path: string, uid: number, gid: number): Promise<void>;
  lchown(path: string, uid: number, gid: number): Promise<void>;
  link(path: string, to: string): Promise<void>;
  stat(path: string): Promise<Stats>;
  lstat(path: string): Promise<Stats>;
  mkdir(path: string, options: { mode?: number; recursive?: boolean }): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  realpath(path: string): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { recursive?: boolean; force?: boolean }): Promise<void>;
  /** Syncs a file or a directory, which always takes time. */
  sync(path: string): Promise<void>;
}

/** On threads, for services: everything else goes on while a disk is slow. */
export const onThreads: FileOperations = {
  chmod,
  chown,
  lchown,
  link,
  stat,
  lstat,
  mkdir,
  readdir: (path) => readdir(path),
  realpath: (path) => realpath(path),
  rename,
  rm,
  async sync(path) {
    const file = await open(path, 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  },
};

const syncDescriptor = promisify(fsync);

/**
 * Without threads, for commands, which serve no requests meanwhile. Passing an operation to a thread takes ten times as long as the
 * operation itself.
 */
export const atOnce: FileOperations = {
  chmod: async (path, mode) => chmodSync(path, mode),
  chown: async (path, uid, gid) => chownSync(path, uid, gid),
  lchown: async (path, uid, gid) => lchownSync(path, uid, gid),
  link: async (path, to) => linkSync(path, to),
  stat: async (path) => statSync(path),
  lstat: async (path) => lstatSync(path),
  mkdir: async (path, options) => mkdirSync(path, options),
  readdir: async (path) => readdirSync(path),
  realpath: async (path) => realpathSync.native(path),
  rename: async (from, to) => renameSync(from, to),
  rm: async (path, options) => rmSync(path, options),
  async sync(path) {
    const file = openSync(path, 'r');
    try {
      await syncDescriptor(file);
    } finally {
      closeSync(file);
    }
  },
};
