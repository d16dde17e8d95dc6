import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import pg from 'pg';
import { sayStored } from '../../src/platform/language/sentence.ts';
import { type Visitor, visit } from '../support/client.ts';
import { isAlive, type ServiceProcess, startProcess } from '../support/process.ts';
import type { CorpusFile } from './files.ts';
import { type Mutant, mutate, seeded } from './mutations.ts';
import { childrenOf, type Observer, openObserver } from './observer.ts';

/** The outcome of a file: a picture, nothing to draw, damaged, a limit of its decoder, or a refused upload. */
type Outcome = 'drawn' | 'not drawn' | 'damaged' | 'stopped' | 'refused';

/** The outcomes of the mutants of one file of the corpus. */
export interface TypeReport {
  name: string;
  outcomes: Partial<Record<Outcome, number>>;
  peakBytes: number;
  slowest: { milliseconds: number; what: string };
}

export interface CampaignReport {
  types: readonly TypeReport[];
  /** Faults: 5xx responses, failed jobs, and anything left behind. */
  faults: readonly string[];
  /** Why mutants were not drawn, with the number of mutants, most frequent first. */
  reasons: readonly (readonly [reason: string, count: number])[];
}

export interface CampaignOptions {
  /** The PostgreSQL database of the service, which must be empty or newly migrated. */
  databaseUrl: string;
  corpus: readonly CorpusFile[];
  files: number;
  seed: number;
  /** Whether the types are processed concurrently; then the figures of each type are those of all. */
  together?: boolean;
  onType?: (report: TypeReport) => void;
}

const UPLOADS = 4;
/** The longest time that the jobs of the mutants of one type may take. */
const STUCK_MS = 900_000;
/** The renditions of each asset to download. */
const DOWNLOADS = 4;

/** Returns the number of mutants of each file. If there are fewer mutants than files, they are spread over the corpus. */
function shares({ corpus, files }: CampaignOptions) {
  const places = Array.from({ length: files }, (_, index) => Math.floor((index * corpus.length) / files));
  const counted = corpus.map((file, at) => ({ file, at, count: places.filter((one) => one === at).length }));
  return counted.filter(({ count }) => count > 0);
}

/** Returns the seed of one mutant, so that a campaign over fewer types makes the same files. */
function seedOf(seed: number, name: string, index: number): number {
  let mixed = seed ^ Math.imul(index + 1, 0x9e3779b1);
  for (const byte of new TextEncoder().encode(name)) mixed = Math.imul(mixed ^ byte, 0x01000193);
  return mixed;
}

async function* mutantsOf(options: CampaignOptions): AsyncGenerator<{ name: string; mutants: Mutant[] }> {
  const { corpus, seed } = options;
  for (const { file, at, count } of shares(options)) {
    const bytes = await file.make();
    const other = corpus[(at + 17) % corpus.length] ?? file;
    const specimen = { name: file.name, bytes, other: { name: other.name, bytes: await other.make() } };
    const mutants = Array.from({ length: count }, (_, index) =>
      // Even a few mutants of each type include all kinds.
      mutate(specimen, at + index, seeded(seedOf(seed, file.name, index))),
    );
    yield { name: file.name, mutants };
  }
}

interface Target {
  service: ServiceProcess;
  visitor: Visitor;
  db: pg.Client;
  observer: Observer;
  fault(what: string): void;
}

interface Stored {
  id: string;
  hash: string;
  name: string;
}

/** Uploads a mutant; null when it is refused. */
async function send({ visitor, fault }: Target, { name, bytes }: Mutant): Promise<Stored | null> {
  const form = new FormData();
  form.append('file', new Blob([bytes]), name);
  const { status, text } = await visitor.send('/assets', { method: 'POST', body: form });
  if (status >= 500) fault(`the upload of ${name} answers ${status}`);
  if (status !== 201) return null;
  const { id, file_hash: hash }: { id: string; file_hash: string } = JSON.parse(text);
  return { id, hash, name };
}

/** Requests everything that viewers request of an asset. */
async function look({ visitor, fault }: Target, { id, name }: Stored): Promise<void> {
  const paths = [`/assets/${id}`, `/assets/${id}/media`, `/assets/${id}/file`];
  for (const path of paths) {
    const { status, text } = await visitor.send(path);
    if (status >= 500) fault(`${path} of ${name} answers ${status}`);
    if (!path.endsWith('/media') || status !== 200) continue;
    const { variants }: { variants: { key: string }[] } = JSON.parse(text);
    for (const { key } of variants.slice(0, DOWNLOADS)) paths.push(`/assets/${id}/variants/${key}`);
  }
}

const limits = /took longer than|needed more than|crashed its decoder/;

async function outcomesOf(target: Target, stored: readonly Stored[], reasons: Map<string, number>) {
  const { rows } = await target.db.query<{
    id: string;
    status: string;
    error: string | null;
    drawn: boolean;
    transcoding: string | null;
  }>(
    `select a.id, a.processing_status as status, a.processing_error as error, f.thumbhash is not null as drawn,
      t.error as transcoding
    from assets a join files f on f.hash = a.file_hash left join transcodes t on t.file_hash = f.hash
    where a.id = any($1)`,
    [stored.map(({ id }) => id)],
  );
  const names = new Map(stored.map(({ id, name }) => [id, name]));
  return rows.map(({ id, status, error, drawn, transcoding }): Outcome => {
    for (const stored of [error, transcoding]) {
      if (stored === null) continue;
      const reason = sayStored('en', stored);
      const pattern = reason.replace(/[\d.]+/g, 'n');
      reasons.set(pattern, (reasons.get(pattern) ?? 0) + 1);
      if (reason.includes('see the log') || reason.includes('/library/')) {
        target.fault(`${names.get(id)}: ${reason}`);
      }
    }
    if (status === 'pending') target.fault(`${names.get(id)} is still pending`);
    if (limits.test(sayStored('en', error ?? ''))) return 'stopped';
    if (status === 'failed') return 'damaged';
    return drawn ? 'drawn' : 'not drawn';
  });
}

async function work(
  target: Target,
  { name, mutants }: { name: string; mutants: readonly Mutant[] },
  reasons: Map<string, number>,
): Promise<TypeReport> {
  const limit = pLimit(UPLOADS);
  const sent = await Promise.all(mutants.map((mutant) => limit(() => send(target, mutant))));
  const stored = sent.filter((one) => one !== null);
  const { peakBytes, slowest } = await target.observer.untilDone(
    new Set(stored.map(({ hash }) => hash)),
    STUCK_MS,
  );
  await Promise.all(stored.map((one) => limit(() => look(target, one))));
  const outcomes: Partial<Record<Outcome, number>> = {};
  const refused = sent.filter((one) => one === null).map((): Outcome => 'refused');
  for (const outcome of [...(await outcomesOf(target, stored, reasons)), ...refused])
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const slow = stored.find(({ hash }) => hash === slowest.hash)?.name ?? '';
  return {
    name,
    outcomes,
    peakBytes,
    slowest: { milliseconds: Math.round(slowest.milliseconds), what: `${slowest.task} ${slow}`.trim() },
  };
}

/** Returns what a campaign left behind; there should be nothing. */
async function leftovers({ service, observer }: Target, dataDir: string, temporaryDir: string) {
  const faults = await observer.idleFaults();
  for (const name of await readdir(join(dataDir, 'library', 'incoming')))
    faults.push(`incoming/${name} is left`);
  const pid = service.child.pid ?? 0;
  const children = childrenOf(pid);
  service.child.kill('SIGTERM');
  const code = await service.exited;
  if (code !== 0) faults.push(`the service ended with ${code}`);
  for (const left of new Set([...observer.pids(), ...children])) {
    if (isAlive(left)) faults.push(`process ${left} outlives the service`);
  }
  for (const name of await readdir(temporaryDir)) faults.push(`the temporary ${name} is left`);
  for (const line of service.output().split('\n')) {
    if (/"level":(?:50|60)/.test(line)) faults.push(`the log has ${line.slice(0, 500)}`);
  }
  return faults;
}

/**
 * Sends mutants of the corpus to a service in its own process with its own database, and lets it process them fully. The
 * same seed makes the same mutants of the same corpus.
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const base = await mkdtemp(join(tmpdir(), 'vitrine-mutants-'));
  const [dataDir, temporaryDir] = [join(base, 'data'), join(base, 'tmp')];
  await Promise.all([dataDir, temporaryDir].map((directory) => mkdir(directory)));
  const faults: string[] = [];
  const reasons = new Map<string, number>();
  const types: TypeReport[] = [];
  // A client and not a pool: `end` of a pool returns before the server has closed the connections.
  const db = new pg.Client({ connectionString: options.databaseUrl });
  let service: ServiceProcess | null = null;
  try {
    await db.connect();
    service = await startProcess(dataDir, {
      DATABASE_URL: options.databaseUrl,
      TMPDIR: temporaryDir,
      VITRINE_LIBREOFFICE: 'off',
      VITRINE_GHOSTSCRIPT: 'off',
    });
    const fault = (what: string) => {
      if (!faults.includes(what)) faults.push(what);
    };
    const visitor = visit(service.address);
    await visitor.ok('completeSetup', { body: { username: 'root', password: 'correct horse battery' } });
    const observer = openObserver({ pid: service.child.pid ?? 0, db }, fault);
    const target: Target = { service, visitor, db, observer, fault };
    const all: Mutant[] = [];
    for await (const { name, mutants } of mutantsOf(options)) {
      if (options.together === true) {
        all.push(...mutants);
        continue;
      }
      const report = await work(target, { name, mutants }, reasons);
      types.push(report);
      options.onType?.(report);
    }
    if (all.length > 0) types.push(await work(target, { name: 'all', mutants: all }, reasons));
    faults.push(...(await leftovers(target, dataDir, temporaryDir)));
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  } finally {
    service?.child.kill('SIGKILL');
    await service?.exited;
    await db.end();
    await rm(base, { recursive: true, force: true });
  }
  return { types, faults, reasons: [...reasons].sort(([, a], [, b]) => b - a) };
}
