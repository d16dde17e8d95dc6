import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, chown, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isAccount, reachableBy, type SystemUser } from '../../platform/database/database-user.ts';
import { type FileOperations, onThreads } from '../../platform/files/operations.ts';
import { programFile } from '../../platform/installation.ts';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';
import { type Abilities, examination, readAbilities } from './abilities.ts';
import { type Cell, openCell } from './cell.ts';
import { DECODER_UID } from './kinds.ts';
import { openRoom, type Room, systemProgram } from './room.ts';

export interface ConfinementOptions {
  /** A directory of the library's file system for the files of decoders; null: a temporary one. */
  directory?: string | null;
  /** A directory that decoders do not need, such as the data directory, which may contain `directory`. */
  hidden?: string | null;
  /** As root: the uid and gid of decoders. */
  uid?: number;
  /** Programs that decoders run, as absolute paths. */
  programs?: readonly string[];
  /** How files are handed over. */
  operations?: FileOperations;
}

/** A command to spawn, with its options. */
interface Launch {
  command: string;
  args: string[];
  identity: { uid?: number; gid?: number };
}

/** The limits on what decoders may do to the system, as far as the system allows them. */
export interface Confinement {
  /** Why decoders have more rights than they need; empty if they have not. */
  missing: readonly Sentence[];
  /** Whether programs that were started under it can still be started. */
  isUsable(): boolean;
  launch(program: string, args: readonly string[]): Launch;
  openCell(): Cell;
  /** Finds out what a program can do under it. */
  examine(paths: { files: readonly string[]; directories: readonly string[] }): Promise<Abilities>;
  /** Call it when all programs have ended. */
  close(): void;
}

/** A cell that hands over the files themselves, for processes with our own rights. */
function openWithoutCell(): Cell {
  return {
    place: null,
    home: null,
    handOver: async (input) => ({ input, takeBack: async (output) => output, close: async () => {} }),
    touch: async () => {},
  };
}

/** Files that every decoder reads, in this installation. */
function neededFiles(programs: readonly string[]): string[] {
  const sharp = fileURLToPath(import.meta.resolve('sharp'));
  return [process.execPath, programFile('media/decoding/child.ts'), sharp, ...programs];
}

/**
 * Lets the group of decoders, and nobody else, pass through a library that is closed to all others, to reach `incoming`,
 * and closes its other directories to that group.
 */
async function letIn(incoming: string, { gid }: SystemUser): Promise<void> {
  const library = dirname(incoming);
  if (((await stat(library)).mode & 0o077) !== 0) return;
  for (const entry of await readdir(library, { withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(library, entry.name), 0o700);
  }
  await chmod(incoming, 0o711);
  await chown(library, process.getuid?.() ?? 0, gid);
  await chmod(library, 0o710);
}

/**
 * The capabilities that root needs to give files to other users, to take them back, and to end their processes: CHOWN,
 * DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID. Containers may lack them.
 */
const NEEDED_CAPABILITIES = [0, 1, 3, 5, 6, 7];

async function hasCapabilities(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return NEEDED_CAPABILITIES.every((bit) => ((effective >> BigInt(bit)) & 1n) === 1n);
}

/** Returns whether files in a directory can be given to a user. */
async function takesFilesOf(user: SystemUser, directory: string): Promise<boolean> {
  const probe = await mkdtemp(join(directory, 'decoder-probe-'));
  try {
    await chown(probe, user.uid, user.gid);
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { recursive: true });
  }
}

/** Returns why decoders cannot run as this user, or null. */
async function whyNotAs(
  user: SystemUser,
  directory: string,
  needed: readonly string[],
): Promise<Sentence | null> {
  const uid = String(user.uid);
  if (isAccount(user.uid)) return sentence('uid {uid} is an account of this system', { uid });
  if (!(await hasCapabilities())) return sentence('this root may not start and end processes of other users');
  for (const file of needed) {
    if (!reachableBy(dirname(file), user))
      return sentence('uid {uid} cannot enter {directory}', { uid, directory: dirname(file) });
    const { mode } = await stat(file);
    if ((mode & 0o004) === 0) return sentence('uid {uid} cannot read {file}', { uid, file });
  }
  if (!(await takesFilesOf(user, directory)))
    return sentence('no file in {directory} can be given to uid {uid}', { directory, uid });
  return null;
}

/** The ways to start decoders, from the most to the least confined. */
interface Way {
  user: SystemUser | null;
  room: Room | null;
  prefix: readonly string[];
}

/** The arguments with which setpriv takes rights away. Only root, also of a room, may reduce the bounding set. */
function withoutRights(setpriv: string, user: SystemUser | null, mayReduce: boolean): string[] {
  const identity = user === null ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const bounds = mayReduce ? ['--inh-caps=-all', '--bounding-set=-all'] : [];
  return [setpriv, ...identity, '--no-new-privs', ...bounds];
}

function waysOf(user: SystemUser | null, setpriv: string | null, room: Room | null): Way[] {
  const mayReduce = process.getuid?.() === 0;
  const ways: Way[] = [];
  for (const as of user === null ? [null] : [user, null]) {
    if (setpriv !== null && room !== null)
      ways.push({ user: as, room, prefix: [...room.prefix, ...withoutRights(setpriv, as, true)] });
    if (setpriv !== null) ways.push({ user: as, room: null, prefix: withoutRights(setpriv, as, mayReduce) });
    if (as !== null) ways.push({ user: as, room: null, prefix: [] });
  }
  return ways;
}

function launchOf({ user, prefix }: Way, program: string, args: readonly string[]): Launch {
  const [command = program, ...rest] = [...prefix, program, ...args];
  // Node changes the user itself where setpriv is missing, and then clears the other groups, too.
  const identity = prefix.length > 0 || user === null ? {} : { uid: user.uid, gid: user.gid };
  return { command, args: rest, identity };
}

async function examineWay(
  way: Way,
  { files, directories }: { files: readonly string[]; directories: readonly string[] },
): Promise<Abilities> {
  const args = ['-c', examination, 'vitrine-examination', ...files, '', ...directories];
  const { command, args: all, identity } = launchOf(way, '/bin/sh', args);
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const { stdout } = await promisify(execFile)(command, all, { ...identity, env, cwd: '/', timeout: 10_000 });
  return readAbilities(stdout);
}

interface Place {
  /** The directory for the files of decoders. */
  directory: string;
  isOfLibrary: boolean;
  /** What is hidden in the room; null: nothing. */
  hidden: string | null;
}

/** Returns whether the user of this way can reach the files of decoders, after opening the way to them if needed. */
async function canReach({ user, room }: Way, { directory, isOfLibrary, hidden }: Place): Promise<boolean> {
  // From the hidden directory on, these are not the directories of the disk.
  if (user !== null && room !== null && hidden !== null && directory.startsWith(`${hidden}${sep}`))
    return reachableBy(dirname(hidden), user);
  if (user === null || reachableBy(directory, user)) return true;
  if (isOfLibrary && reachableBy(dirname(dirname(directory)), user)) await letIn(directory, user);
  return reachableBy(directory, user);
}

/** Returns whether a program failed because this machine lacks memory, processes or time at the moment. */
function isMomentary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isKilled = 'killed' in error && error.killed === true;
  return isKilled || ('code' in error && /^E(?:AGAIN|NOMEM|MFILE|NFILE)$/.test(String(error.code)));
}

/**
 * Returns why decoders cannot be started this way, or null. Rejects on momentary faults of the machine, such as a full
 * disk, which must not leave decoders with more rights.
 */
async function whyNotThisWay(way: Way, needed: readonly string[], place: Place): Promise<Sentence | null> {
  const { directory } = place;
  if (!(await canReach(way, place)))
    return sentence('uid {uid} cannot enter {directory}', { uid: String(way.user?.uid), directory });
  const probe = join(place.directory, `decoder-probe-${randomUUID()}`);
  try {
    await writeFile(probe, '', { mode: 0o600 });
    const cell = openCell(place.directory, { user: way.user, operations: onThreads });
    const handed = await cell.handOver({ path: probe });
    const files = [...needed, handed.input.path];
    const directories = cell.home === null ? [] : [cell.home];
    const found = await examineWay(way, { files, directories })
      .catch((error: unknown) => {
        if (isMomentary(error)) throw error;
        const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n').slice(-2);
        return sentence('decoders could not be started with fewer rights: {reason}', { reason: line });
      })
      .finally(handed.close);
    if ('text' in found) return found;
    const unread = files.find((file) => !found.readable.includes(file));
    if (unread !== undefined) return sentence('decoders could not read {file}', { file: unread });
    const canWrite = found.writable.length === directories.length;
    return canWrite ? null : sentence('decoders could not write in {directory}', { directory });
  } finally {
    await rm(probe, { force: true });
  }
}

/** Makes a directory that is removed with this process. */
async function makePlace(): Promise<{ place: string; remove(): void }> {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-decoding-')));
  await chmod(place, 0o711);
  const discard = () => rmSync(place, { recursive: true, force: true });
  process.once('exit', discard);
  const remove = () => {
    process.off('exit', discard);
    discard();
  };
  return { place, remove };
}

/** Returns the directory to hide, unless decoders need something in it. */
async function hideable(hidden: string | null, needed: readonly string[]): Promise<string | null> {
  const directory = hidden === null ? null : await realpath(hidden).catch(() => null);
  return directory === null || needed.some((file) => file.startsWith(`${directory}${sep}`))
    ? null
    : directory;
}

const NOWHERE: Way = { user: null, room: null, prefix: [] };

const isNew = (missing: readonly Sentence[], why: Sentence): boolean =>
  missing.every((known) => saySentence('en', known) !== saySentence('en', why));

/** Returns the first of these ways that works, and why those before it do not. */
async function strictest(
  ways: readonly Way[],
  needed: readonly string[],
  place: Place,
): Promise<{ way: Way; missing: Sentence[] }> {
  const missing: Sentence[] = [];
  for (const way of ways) {
    const why = await whyNotThisWay(way, needed, place);
    if (why === null) return { way, missing };
    if (isNew(missing, why)) missing.push(why);
  }
  return { way: NOWHERE, missing };
}

/**
 * Finds the strictest way to start decoders that this system permits: as another user if we are root, without
 * capabilities, without a network, and with everything read-only but their own directories (MEDIA-60).
 */
export async function openConfinement({
  directory = null,
  hidden = null,
  uid = DECODER_UID,
  programs = [],
  operations = onThreads,
}: ConfinementOptions = {}): Promise<Confinement> {
  const missing: Sentence[] = [];
  const needed = await Promise.all(neededFiles(programs).map((file) => realpath(file).catch(() => file)));
  const { place, remove } =
    directory === null ? await makePlace() : { place: await realpath(directory), remove: () => {} };
  const hiding = await hideable(hidden, needed);
  let way = NOWHERE;
  if (process.platform === 'linux') {
    const candidate = { uid, gid: uid };
    const whyNot = process.getuid?.() === 0 ? await whyNotAs(candidate, place, needed) : null;
    if (whyNot !== null) missing.push(whyNot);
    const user = process.getuid?.() === 0 && whyNot === null ? candidate : null;
    const setpriv = systemProgram('setpriv');
    const opened =
      setpriv === null ? sentence('setpriv (util-linux) is not installed') : await openRoom(place, hiding);
    if ('text' in opened) missing.push(opened);
    const room = 'text' in opened ? null : opened;
    const shown = { directory: place, isOfLibrary: directory !== null, hidden: hiding };
    const found = await strictest(waysOf(user, setpriv, room), needed, shown).catch((error: unknown) => {
      room?.close();
      remove();
      throw error;
    });
    way = found.way;
    missing.push(...found.missing.filter((why) => isNew(missing, why)));
    if (way.room === null) room?.close();
  } else missing.push(sentence('decoders are confined on Linux only'));
  const hasCells = way.user !== null || way.room !== null;
  // Decoders must not list the uploads of others.
  if (way.user !== null) await chmod(place, 0o711);
  return {
    missing,
    isUsable: () => way.room?.isAlive() !== false,
    launch: (program, args) => launchOf(way, program, args),
    openCell: () => (hasCells ? openCell(place, { user: way.user, operations }) : openWithoutCell()),
    examine: (paths) => examineWay(way, paths),
    close() {
      way.room?.close();
      remove();
    },
  };
}
