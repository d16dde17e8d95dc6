import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { chmod, link, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { Abilities } from '../../src/media/decoding/abilities.ts';
import { ForeignPath, openCell } from '../../src/media/decoding/cell.ts';
import { openConfinement } from '../../src/media/decoding/confinement.ts';
import { openDecoders } from '../../src/media/decoding/decoders.ts';
import { DECODER_UID } from '../../src/media/decoding/kinds.ts';
import { openMetadataReader } from '../../src/media/metadata/reader.ts';
import { sayFinding } from '../../src/operate/doctor/check.ts';
import { judgeDecoders } from '../../src/operate/doctor/programs.ts';
import { atOnce, onThreads } from '../../src/platform/files/operations.ts';
import { type Sentence, saySentence, verbatim } from '../../src/platform/language/sentence.ts';
import { jpeg } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { largestRung } from './still-kit.ts';

const run = promisify(execFile);
const english = (text: Sentence) => saySentence('en', text);
const judge = (...found: Parameters<typeof judgeDecoders>) =>
  sayFinding('en', { code: 'decoders', title: verbatim('Decoders') }, judgeDecoders(...found));
const isRoot = process.getuid?.() === 0;
const user = { uid: DECODER_UID, gid: DECODER_UID };
const module = JSON.stringify(join(import.meta.dirname, '../../src/media/decoding/confinement.ts'));

const base = await temporaryDirectory();

/** Makes a data directory with secrets and a picture that only its owner may read. */
async function makeLibrary(name: string) {
  const data = join(base, name);
  const incoming = join(data, 'library', 'incoming');
  const original = join(data, 'library', 'originals', 'ab', 'picture');
  await mkdir(join(data, 'library', 'originals', 'ab'), { recursive: true });
  await chmod(data, 0o711);
  await chmod(join(data, 'library'), 0o700);
  await mkdir(incoming);
  await writeFile(original, await jpeg(60, 40), { mode: 0o600 });
  const secrets = ['postgres.secret', 'secret.key'].map((file) => join(data, file));
  for (const secret of secrets) await writeFile(secret, 'secret', { mode: 0o600 });
  const outDir = join(incoming, 'render-1');
  await mkdir(outDir, { mode: 0o700 });
  return { data, incoming, original, secrets, outDir, confinement: { directory: incoming, hidden: data } };
}

const library = await makeLibrary('library');
const confinement = await openConfinement(library.confinement);
const decoders = openDecoders({ confinement: library.confinement });
afterAll(async () => {
  await decoders.close();
  confinement.close();
});
/** Whether this system permits everything. */
const isComplete = confinement.missing.length === 0;

const ladderOf = ({ original: path, outDir }: typeof library) => ({
  path,
  mime: 'image/jpeg',
  rungs: largestRung,
  outDir,
});

async function statusOf(pid: number | string): Promise<Record<string, string>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2)));
}

const nobody = (value: string) => Array.from({ length: 4 }, () => value).join('\t');

/** Tries what a file that has taken over its decoder would try, and prints the errors. */
const attempts = `
  const fs = require('node:fs'), net = require('node:net');
  const [port, outside, ...secrets] = JSON.parse(process.argv[1]);
  const attempt = (act) => { try { act(); return 'done'; } catch (error) { return error.code; } };
  const found = {
    read: secrets.map((secret) => attempt(() => fs.readFileSync(secret))),
    written: outside.map((place) => attempt(() => fs.writeFileSync(place + '/taken', ''))),
    killed: attempt(() => process.kill(process.ppid, 0)),
    becameRoot: attempt(() => process.setuid(0)),
  };
  const socket = net.connect(port, '127.0.0.1');
  const report = (connected) => { console.log(JSON.stringify({ ...found, connected })); process.exit(); };
  socket.on('connect', () => report('done'));
  socket.on('error', (error) => report(error.code));`;

// MEDIA-60
describe.runIf(process.platform === 'linux')('a confined decoder', () => {
  test('renders a file that only Vitrine may read, and the renditions belong to Vitrine', async () => {
    const { ladder } = await decoders.run('picture', 'mara', 'ladder', ladderOf(library));
    if (ladder.outcome !== 'rendered') throw new Error(saySentence('en', ladder.reason));
    for (const { path } of ladder.renditions) {
      expect(path.startsWith(`${library.outDir}/`)).toBe(true);
      const { uid, mode, nlink } = await stat(path);
      expect([uid, mode & 0o777, nlink]).toEqual([process.getuid?.(), 0o644, 1]);
    }
    const { uid, nlink } = await stat(library.original);
    expect([uid, nlink]).toEqual([process.getuid?.(), 1]);
    const [pid = 0] = decoders.pids('picture');
    const { Uid, CapEff, CapPrm, CapBnd, NoNewPrivs, Groups } = await statusOf(pid);
    expect([CapEff, CapPrm, NoNewPrivs]).toEqual(['0000000000000000', '0000000000000000', '1']);
    if (!isRoot) return;
    expect([Uid, CapBnd, Groups?.trim()]).toEqual([nobody(String(DECODER_UID)), '0000000000000000', '']);
  });

  test.runIf(isRoot)('has no fewer rights than ExifTool', async () => {
    const reader = openMetadataReader({ decoders });
    const { name } = await reader.inUse();
    expect((await reader.read(library.original)).outcome).toBe('read');
    const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
    const programs = await Promise.all(
      pids.map(async (pid) => {
        const { PPid } = await statusOf(pid).catch((): Record<string, string> => ({}));
        const isOurs = PPid === String(process.pid);
        return [pid, isOurs ? await readlink(`/proc/${pid}/exe`).catch(() => '') : ''] as const;
      }),
    );
    const perls = programs.filter(([, program]) => program.includes('perl'));
    expect(perls.length > 0).toBe(name === 'exiftool');
    // Readers of other tests in this process run as they are configured.
    const states = await Promise.all(
      perls.map(async ([pid]) => {
        const { Uid, CapEff } = await statusOf(pid).catch((): Record<string, string> => ({}));
        return [Uid, CapEff];
      }),
    );
    const confined = [nobody(String(DECODER_UID)), '0000000000000000'];
    if (name === 'exiftool') expect(states).toContainEqual(confined);
    await reader.close();
  });

  test.runIf(isComplete)(
    'reads no secret, writes nowhere else, reaches no server, and ends no other process',
    async () => {
      let connections = 0;
      const server = createServer(() => {
        connections += 1;
      }).listen(0, '127.0.0.1');
      const address = await new Promise<ReturnType<typeof server.address>>((resolve) =>
        server.once('listening', () => resolve(server.address())),
      );
      const port = typeof address === 'object' ? address?.port : 0;
      const outside = ['/tmp', '/var/tmp', '/dev/shm', library.data, library.outDir, import.meta.dirname];
      const tried = JSON.stringify([port, outside, ...library.secrets, library.original]);
      const { command, args, identity } = confinement.launch(process.execPath, ['-e', attempts, tried]);
      const { stdout } = await run(command, args, { ...identity, cwd: '/', env: {} });
      server.close();
      const { read, written, killed, becameRoot, connected } = JSON.parse(stdout);
      expect(read).not.toContain('done');
      expect(connections).toBe(0);
      expect(connected).toBe('ENETUNREACH');
      if (!isRoot) return;
      expect(written).not.toContain('done');
      expect([killed, becameRoot]).toEqual(['EPERM', 'EPERM']);
    },
  );

  test.runIf(isComplete)(
    'keeps its limits after the process that holds its namespaces was killed',
    async () => {
      const before = await decoders.confine();
      const target = /^--target=(\d+)$/m.exec(before.launch('true', []).args.join('\n'))?.[1];
      process.kill(Number(target), 'SIGKILL');
      await expect.poll(() => before.isUsable()).toBe(false);
      const { ladder } = await decoders.run('document', 'mara', 'ladder', ladderOf(library));
      expect(ladder.outcome).toBe('rendered');
      const found = await (await decoders.confine()).examine({
        files: library.secrets,
        directories: ['/tmp'],
      });
      expect(found).toMatchObject({ hasNetwork: false, readable: [], writable: [] });
    },
  );

  test('reports what it can do', async () => {
    const directories = ['/tmp', '/var/tmp', library.data];
    const found = await confinement.examine({ files: library.secrets, directories });
    expect(found).toMatchObject({ isCapable: false, canGainRights: false });
    if (isComplete) expect(found).toMatchObject({ hasNetwork: false, readable: [], writable: [] });
    if (isRoot) expect(found).toMatchObject({ uid: DECODER_UID, readable: [] });
  });
});

/** Opens a confinement in a process started by `setpriv` with these arguments, and decodes a picture in it. */
async function openUnder(
  rights: readonly string[],
  { confinement, secrets, original, outDir }: typeof library,
) {
  const input = { path: original, mime: 'image/jpeg', rungs: largestRung, outDir };
  const script = `
    const { spawnSync } = await import('node:child_process');
    const { openConfinement } = await import(${module});
    const { openDecoders } = await import(${module.replace('confinement.ts', 'decoders.ts')});
    const options = ${JSON.stringify(confinement)};
    const opened = await openConfinement(options);
    const found = await opened.examine({ files: ${JSON.stringify(secrets)}, directories: ['/tmp'] });
    const decoders = openDecoders({ confinement: options });
    const { ladder } = await decoders.run('picture', 'mara', 'ladder', ${JSON.stringify(input)});
    await decoders.close();
    opened.close();
    const nested = opened.launch('unshare', ['--user', '--map-root-user', 'true']);
    const isNested = spawnSync(nested.command, nested.args, nested.identity).status === 0;
    console.log(JSON.stringify({ found, missing: opened.missing, outcome: ladder.outcome, isNested }));`;
  const args = [...rights, '--', process.execPath, '--input-type=module', '-e', script];
  const { stdout } = await run('setpriv', args, { env: { PATH: process.env.PATH, TMPDIR: '/tmp' } });
  const answer: { found: Abilities; missing: Sentence[]; outcome: string; isNested: boolean } =
    JSON.parse(stdout);
  return answer;
}

// MEDIA-60
describe.runIf(isRoot)('on a system that allows less,', () => {
  test('as most containers do, decoders run as another user without capabilities', async () => {
    const { found, missing, outcome } = await openUnder(
      ['--bounding-set=-sys_admin'],
      await makeLibrary('contained'),
    );
    expect(missing.map(english)).toEqual([expect.stringContaining('namespaces are not permitted')]);
    expect(found).toMatchObject({ uid: DECODER_UID, isCapable: false, canGainRights: false, readable: [] });
    expect(found).toMatchObject({ hasNetwork: true, writable: ['/tmp'] });
    expect(outcome).toBe('rendered');
    expect(judge(found, 0, missing)).toMatchObject({
      status: 'warning',
      detail:
        `decoders run as uid ${DECODER_UID} without capabilities, ways to gain rights, access to the secrets of the ` +
        `library; but they reach the network, write in /tmp (${missing.map(english)[0]})`,
      remedy: expect.stringContaining('docs/operations.md'),
    });
  });

  test('a root that may not end processes of others runs decoders as itself without capabilities', async () => {
    const { found, missing, outcome } = await openUnder(
      ['--bounding-set=-kill,-sys_admin'],
      await makeLibrary('weak'),
    );
    expect(missing.map(english)[0]).toBe('this root may not start and end processes of other users');
    expect(found).toMatchObject({ uid: 0, isCapable: false, readable: expect.any(Array) });
    expect(outcome).toBe('rendered');
    expect(judge(found, 0, missing)).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('decoders run as root without capabilities'),
    });
  });

  test('an ordinary user hides its library from decoders if namespaces are permitted', async () => {
    const own = await makeLibrary('ordinary');
    await run('chown', ['-R', '64713:64713', own.data]);
    const ids = ['--reuid=64713', '--regid=64713', '--clear-groups'];
    const { found, missing, outcome, isNested } = await openUnder(ids, own);
    expect(outcome).toBe('rendered');
    expect(found).toMatchObject({ isCapable: false, canGainRights: false });
    if (missing.length === 0) {
      expect(found).toMatchObject({ hasNetwork: false, readable: [], writable: [] });
      expect(isNested).toBe(false);
      expect(judge(found, 64_713, missing)).toMatchObject({
        status: 'ok',
        detail: expect.stringContaining('run as the user of Vitrine without capabilities'),
      });
    } else {
      expect(found).toMatchObject({ readable: own.secrets });
      expect(judgeDecoders(found, 64_713, missing).status).toBe('warning');
    }
  });

  test('below a directory that the other user cannot enter, decoders run as root without capabilities', async () => {
    const closed = join(base, 'closed-above');
    await mkdir(closed, { mode: 0o700 });
    const { confinement: options, secrets, ...rest } = await makeLibrary('closed-above/library');
    const opened = await openConfinement(options);
    expect(opened.missing.map(english)).toContain(`uid ${DECODER_UID} cannot enter ${options.directory}`);
    expect(await opened.examine({ files: [], directories: [] })).toMatchObject({ uid: 0, isCapable: false });
    opened.close();
    const { outcome } = await openUnder([], { confinement: options, secrets, ...rest });
    expect(outcome).toBe('rendered');
  });

  test('code that the other user cannot reach runs as root without capabilities', async () => {
    const closed = join(base, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await symlink('/bin/true', join(closed, 'link'));
    await writeFile(join(closed, 'ffmpeg'), '', { mode: 0o755 });
    const { confinement: options } = await makeLibrary('unreachable');
    const opened = await openConfinement({ ...options, programs: [join(closed, 'ffmpeg')] });
    expect(opened.missing.map(english)).toEqual([`uid ${DECODER_UID} cannot enter ${closed}`]);
    const found = await opened.examine({ files: [], directories: ['/tmp'] });
    expect(found).toMatchObject({ uid: 0, isCapable: false });
    opened.close();
  });
});

// MEDIA-60
describe.runIf(isRoot)('the files that a decoder returns', () => {
  const asDecoder = (script: string, ...args: string[]) =>
    run('/bin/sh', ['-c', script, 'sh', ...args], { ...user, cwd: '/' });

  test.each([
    ['on threads', onThreads],
    ['at once', atOnce],
  ])(
    'are its own %s: links are removed, and paths that it did not make are refused',
    async (_, operations) => {
      const { incoming, original, outDir, secrets } = await makeLibrary(`hostile-${operations === atOnce}`);
      await chmod(join(incoming, '..'), 0o711);
      const cell = openCell(incoming, { user, operations });
      const { input, takeBack, close } = await cell.handOver({ path: original, outDir });
      const [secret = ''] = secrets;
      await asDecoder(
        'cd "$1"; echo made >a; mkdir -p b/c; echo deep >b/c/d; ln -s "$2" e; ln a f; mkfifo g; echo own >h; chmod 4777 h; ln -s / b/i',
        input.outDir,
        secret,
      );
      // A decoder can do this itself where the kernel does not protect hard links.
      await link(original, join(input.outDir, 'j'));
      const made = { renditions: [{ path: join(input.outDir, 'b/c/d') }], path: join(input.outDir, 'h') };
      expect(await takeBack(made)).toEqual({
        renditions: [{ path: join(outDir, 'b/c/d') }],
        path: join(outDir, 'h'),
      });
      // Of two names of one file, one remains.
      const kept = (await readdir(outDir, { recursive: true })).filter(
        (name) => !/^([af]|\.making)$/.test(name),
      );
      expect(kept.sort()).toEqual(['b', 'b/c', 'b/c/d', 'h']);
      const found = await stat(join(outDir, 'h'));
      expect([found.uid, found.gid, found.mode & 0o7777]).toEqual([0, process.getgid?.(), 0o644]);
      for (const path of [secret, original, `${input.outDir}/../../../x`, input.outDir, 'h'])
        await expect(takeBack({ extras: [{ path }] }), path).rejects.toBeInstanceOf(ForeignPath);
      await close();
      expect(await readdir(incoming)).toEqual(['render-1']);
      expect(await readdir(outDir)).not.toContain('.making');
    },
  );

  test('are limited to the requested one, and a source on another disk is copied', async () => {
    const { incoming, outDir } = await makeLibrary('single');
    await chmod(join(incoming, '..'), 0o711);
    const { dev } = await stat(incoming);
    const elsewhere = ['/var/tmp', '/dev/shm'].find((place) => statSync(place).dev !== dev);
    const path = join(elsewhere === undefined ? base : await temporaryDirectory(elsewhere), 'file');
    await writeFile(path, 'source', { mode: 0o600 });
    const cell = openCell(incoming, { user, operations: onThreads });
    const to = join(outDir, 'preview');
    const { input, takeBack, close } = await cell.handOver({ path, to });
    await asDecoder('cat "$1" >"$2"; echo more >"$2.more"', input.path, input.to);
    expect(await takeBack(true)).toBe(true);
    expect([await readdir(outDir), await readFile(to, 'utf8')]).toEqual([['preview'], 'source']);
    if (elsewhere !== undefined) expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(asDecoder('echo changed >"$1"', input.path)).rejects.toThrow('ermission denied');
    await close();
  });
});
