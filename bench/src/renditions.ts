import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon, { type Result } from 'autocannon';
import { admin, call, createAccount, openEmptyLibrary, signIn } from './empty-library.ts';
import { cacheDir, type Spawned, serverBin } from './library.ts';
import { median } from './load.ts';
import { picture } from './picture.ts';
import { postmasterOf } from './postmaster.ts';
import { processorSeconds, treeProcessorSeconds } from './processor-time.ts';

const PICTURES = 50;
const ROUNDS = 5;
/** Waits until code is compiled and the jobs of the new pictures are done. */
const WARM_SECONDS = 15;
const reader = { username: 'reader', password: 'another password for the bench' };

/** A library on disk with its service, and the session of a reader who does not own its pictures. */
interface Library {
  name: string;
  service: Spawned;
  postmaster: number;
  cookie: string;
  paths: string[];
  feed: string;
  close(): Promise<void>;
}

/** Uploads the pictures, posts them and waits for their previews. Returns the addresses of the small ones. */
async function fill(base: string): Promise<Pick<Library, 'paths' | 'cookie' | 'feed'>> {
  const owner = await signIn(base, admin);
  const json = { cookie: owner, 'content-type': 'application/json' };
  const assets: { id: string; file_hash: string }[] = [];
  for (let seed = 0; seed < PICTURES; seed += 1) {
    const form = new FormData();
    form.append('file', new File([Uint8Array.from(await picture(seed))], `picture-${seed}.jpg`));
    const uploaded = await call(base, '/assets', { method: 'POST', headers: { cookie: owner }, body: form });
    const asset: { id: string; file_hash: string } = JSON.parse(await uploaded.text());
    assets.push(asset);
    const body = JSON.stringify({ title: `Picture ${seed}`, members: [{ asset_id: asset.id }] });
    await call(base, '/posts', { method: 'POST', headers: json, body });
  }
  await createAccount(base, owner, reader);
  const cookie = await signIn(base, reader);
  const paths = assets.map(({ id, file_hash }) => `/api/v1/assets/${id}/variants/col?v=${file_hash}`);
  for (const path of paths)
    while ((await fetch(base + path, { headers: { cookie } })).status !== 200) await sleep(200);
  return { cookie, paths, feed: '/api/v1/posts?limit=50' };
}

async function openLibrary(name: string, bin: string): Promise<Library> {
  const { directory, service, close } = await openEmptyLibrary(bin);
  try {
    const filled = await fill(service.address);
    return { name, service, postmaster: await postmasterOf(directory), ...filled, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Measured {
  perSecond: number;
  /** Returns the milliseconds of CPU time per request. */
  service: number;
  database: number;
}

async function ask(base: string, paths: readonly string[], cookie: string, seconds: number): Promise<Result> {
  const result = await new Promise<Result>((resolve, reject) => {
    const options = {
      url: base,
      connections: 8,
      duration: seconds,
      requests: paths.map((path) => ({ path, headers: { cookie } })),
    };
    autocannon(options, (error, outcome) => (error ? reject(error) : resolve(outcome)));
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${base}: ${result.non2xx} refusals, ${result.errors} errors`);
  return result;
}

async function measure(library: Library, paths: readonly string[], seconds: number): Promise<Measured> {
  const pid = library.service.child.pid ?? 0;
  const before = [await processorSeconds(pid), await treeProcessorSeconds(library.postmaster)] as const;
  const result = await ask(library.service.address, paths, library.cookie, seconds);
  const after = [await processorSeconds(pid), await treeProcessorSeconds(library.postmaster)] as const;
  const requests = result.requests.total;
  return {
    perSecond: result.requests.average,
    service: ((after[0] - before[0]) * 1000) / requests,
    database: ((after[1] - before[1]) * 1000) / requests,
  };
}

/** Measures nginx with one worker serving the same bytes as files. Returns null where nginx is not installed. */
async function openNginx(library: Library): Promise<{ base: string; close(): Promise<void> } | null> {
  const directory = await mkdtemp(join(cacheDir, 'nginx-'));
  await chmod(directory, 0o755);
  for (const [at, path] of library.paths.entries()) {
    const response = await fetch(library.service.address + path, { headers: { cookie: library.cookie } });
    await writeFile(join(directory, `${at}.webp`), Buffer.from(await response.arrayBuffer()));
  }
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const config = `daemon off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/log;
    events { worker_connections 64; }
    http { access_log off; sendfile on; open_file_cache max=100; keepalive_requests 10000000; types { image/webp webp; }
      client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f;
      uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
      server { listen 127.0.0.1:${port}; root ${directory}; } }`;
  await writeFile(join(directory, 'nginx.conf'), config);
  const child: ChildProcess = spawn('nginx', ['-c', join(directory, 'nginx.conf')], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const base = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 50 && child.exitCode === null; tries += 1) {
    if (
      await fetch(`${base}/0.webp`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return { base, close };
    await sleep(100);
  }
  await close();
  return null;
}

function report(name: string, all: readonly Measured[]): void {
  const rate = median(all.map(({ perSecond }) => perSecond));
  const service = median(all.map((one) => one.service));
  const database = median(all.map((one) => one.database));
  console.log(
    `${name}: ${rate.toFixed(0)} a second; processor time of a request: service ${service.toFixed(3)} ms, database ${database.toFixed(3)} ms, together ${(service + database).toFixed(3)} ms`,
  );
}

/**
 * `bench renditions`: requests the 320-pixel previews of fifty posts as a reader who does not own them, over 8
 * connections. `reference` is the directory of another checkout, measured in turn with this one and with nginx, if
 * installed.
 */
export async function benchRenditions(seconds: number, reference: string | undefined): Promise<void> {
  const libraries = [await openLibrary('this version', serverBin)];
  if (reference !== undefined)
    libraries.push(await openLibrary('reference', join(reference, 'server/bin/vitrine.js')));
  const [first] = libraries;
  const nginx = first === undefined ? null : await openNginx(first);
  try {
    const results = libraries.map((library) => ({
      library,
      pictures: [] as Measured[],
      page: [] as Measured[],
    }));
    const plain: number[] = [];
    for (const { service, paths, cookie } of libraries)
      await ask(service.address, paths, cookie, WARM_SECONDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { library, pictures, page } of results) {
        pictures.push(await measure(library, library.paths, seconds));
        page.push(await measure(library, [library.feed], seconds));
      }
      if (nginx !== null) {
        const files = Array.from({ length: PICTURES }, (_, at) => `/${at}.webp`);
        plain.push((await ask(nginx.base, files, '', seconds)).requests.average);
      }
    }

    for (const { library, pictures, page } of results) {
      report(`${library.name}, small previews`, pictures);
      report(`${library.name}, feed page of ${PICTURES}`, page);
    }
    if (plain.length > 0) console.log(`nginx: ${median(plain).toFixed(0)} a second`);
  } finally {
    await nginx?.close();
    for (const library of libraries) await library.close();
  }
}
