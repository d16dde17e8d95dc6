import { corpusDirectory, joinDatabase, readerCookie, type Spawned, spawnService } from './library.ts';
import { type CountedLoad, load, median } from './load.ts';
import { treeProcessorSeconds } from './processor-time.ts';

const LIMIT = 24;
const ROUNDS = 5;

/** The pages that must not become slower as a library grows. */
const pages: Readonly<Record<string, string>> = {
  feed: `posts?limit=${LIMIT}`,
  'asset list': `assets?limit=${LIMIT}`,
  'page of a tag': `posts?limit=${LIMIT}&tag=tag104`,
  'search, a word of every post': `search?limit=${LIMIT}&kind=post&q=happened`,
  'search, a rare word': `search?limit=${LIMIT}&kind=post&q=tag104`,
  'search, a number': `search?limit=${LIMIT}&kind=post&q=7777`,
};

interface Library {
  posts: number;
  service: Spawned;
  headers: Record<string, string>;
}

interface Round extends CountedLoad {
  /** Milliseconds of CPU time of the service and its PostgreSQL for one request. */
  cpu: number;
}

async function open(posts: number): Promise<Library> {
  const directory = await corpusDirectory(posts);
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  // Gives a library that was just filled the statistics and visibility maps of one in use.
  await database.pool.query('vacuum analyze');
  const headers = { cookie: await readerCookie(database) };
  await database.close();
  return { posts, service, headers };
}

async function ask({ service, headers }: Library, path: string, seconds: number): Promise<Round> {
  const pid = service.child.pid ?? 0;
  const before = await treeProcessorSeconds(pid);
  const round = await load(`${service.address}/api/v1/${path}`, headers, seconds);
  const spent = (await treeProcessorSeconds(pid)) - before;
  return { ...round, cpu: (spent / round.requests) * 1000 };
}

/**
 * `bench growth`: asks for the same pages of libraries of different sizes in turn, in one run, and compares p95 and CPU
 * time per request with those of the smallest.
 */
export async function benchGrowth(sizes: readonly number[], seconds: number): Promise<void> {
  const libraries: Library[] = [];
  try {
    for (const posts of sizes) libraries.push(await open(posts));
    console.log(
      '| page | posts | a second | p50 ms | p95 ms | p95 to the smallest | CPU ms | CPU to the smallest |',
    );
    console.log('|---|---|---|---|---|---|---|---|');
    for (const [name, path] of Object.entries(pages)) {
      const rounds = libraries.map((): Round[] => []);
      for (const library of libraries) await ask(library, path, 1);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [place, library] of libraries.entries()) {
          rounds[place]?.push(await ask(library, path, seconds / ROUNDS));
        }
      }
      const middle = (place: number, of: (round: Round) => number) => median((rounds[place] ?? []).map(of));
      for (const [place, { posts }] of libraries.entries()) {
        const [p95, cpu] = [middle(place, (one) => one.p95), middle(place, (one) => one.cpu)];
        const cells = [
          name,
          posts.toLocaleString('en'),
          middle(place, (one) => one.requestsPerSecond).toFixed(0),
          middle(place, (one) => one.p50).toFixed(1),
          p95.toFixed(1),
          (p95 / middle(0, (one) => one.p95)).toFixed(2),
          cpu.toFixed(1),
          (cpu / middle(0, (one) => one.cpu)).toFixed(2),
        ];
        console.log(`| ${cells.join(' | ')} |`);
      }
    }
  } finally {
    for (const { service } of libraries) await service.stop();
  }
}
