import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { corpusDirectory, joinDatabase, readerCookie, spawnService } from './library.ts';
import { type CountedLoad, load, median } from './load.ts';
import { treeProcessorSeconds } from './processor-time.ts';

const LIMIT = 24;

/**
 * A rare word, a common one, both, a prefix, a misspelling, combinations with filters, and queries that used to be
 * slow.
 */
const questions: Readonly<Record<string, string>> = {
  'rare word': 'q=tag104',
  'word of every row': 'q=picture&kind=asset',
  'word of every post': 'q=happened&kind=post',
  'common and rare': 'q=picture%20tag104&kind=asset',
  phrase: 'q=%22a%20walk%22&kind=asset',
  beginning: 'q=tag10&kind=asset',
  exclusion: 'q=picture%20-tag104&kind=asset',
  'newest of a common word': 'q=picture&kind=asset&sort=newest',
  misspelt: 'q=pictrue&kind=asset',
  'every kind': 'q=picture',
  facets: 'q=picture&kind=asset&facets=true',
  'nothing at all': 'q=zzzzqqqq',
  'beginning, every kind': 'q=tag10',
  'nothing asked, every kind': '',
  'nothing asked, tags': 'kind=tag',
  'rare, and most mature names': 'q=img%20tag104&kind=asset',
  'misspelt like one in a hundred': 'q=tagg104&kind=asset',
};

/**
 * Many short rounds of each query, each next to the feed, are more accurate than one long round on a shared machine.
 */
const ROUNDS = 5;

interface Measured extends CountedLoad {
  /** Milliseconds of processor time of a request: the service and its PostgreSQL. */
  processor: number;
}

interface Beside {
  asked: Measured;
  /** The p95 as a multiple of the feed page's, measured just before and after. */
  ratio: number;
}

function line(name: string, { asked, ratio }: Beside): string {
  const { requestsPerSecond, p50, p95, processor } = asked;
  return `| ${name} | ${requestsPerSecond.toFixed(0)} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${ratio.toFixed(2)} | ${processor.toFixed(1)} |`;
}

function middle(rounds: readonly Beside[]): Beside {
  const of = (value: (one: Beside) => number) => median(rounds.map(value));
  return {
    asked: {
      requestsPerSecond: of((one) => one.asked.requestsPerSecond),
      p50: of((one) => one.asked.p50),
      p95: of((one) => one.asked.p95),
      requests: of((one) => one.asked.requests),
      processor: of((one) => one.asked.processor),
    },
    ratio: of((one) => one.ratio),
  };
}

/** Compares searches with a page of the feed on the same library. */
export async function benchSearch(posts: number, seconds: number, given: string | undefined): Promise<void> {
  const directory = given ?? (await corpusDirectory(posts));
  const service = await spawnService(directory);
  try {
    const database = joinDatabase(directory);
    await database.pool.query('analyze');
    const { rows } = await database.pool.query('select count(*) as posts from posts');
    const headers = { cookie: await readerCookie(database) };
    await database.close();
    const pid = service.child.pid ?? 0;
    const measure = async (path: string, length: number): Promise<Measured> => {
      const before = await treeProcessorSeconds(pid);
      const round = await load(`${service.address}/api/v1/${path}`, headers, length);
      const used = (await treeProcessorSeconds(pid)) - before;
      return { ...round, processor: (used * 1000) / round.requests };
    };
    const ask = async (path: string): Promise<Measured> => {
      const round = await measure(path, seconds / ROUNDS);
      // A round too short for a single response is not meaningful.
      return round.p95 > 0 ? round : measure(path, seconds * 2);
    };
    const feed = `posts?limit=${LIMIT}`;
    const paths = Object.entries(questions).map(
      ([name, query]) => [name, `search?limit=${LIMIT}&${query}`] as const,
    );
    const asked = [['the feed', feed] as const, ...paths, ['suggestions', 'search/suggest?q=pict'] as const];
    const rounds = new Map(asked.map(([name]) => [name, [] as Beside[]]));
    await ask(feed);
    for (let round = 0; round < ROUNDS; round += 1) {
      let before = await ask(feed);
      for (const [name, path] of asked) {
        if (round === 0) await ask(path);
        const one = await ask(path);
        const after = await ask(feed);
        rounds.get(name)?.push({ asked: one, ratio: one.p95 / ((before.p95 + after.p95) / 2) });
        before = after;
      }
    }
    const head = [
      '| question | a second | p50 ms | p95 ms | p95 to the feed’s | processor ms |',
      '|---|---|---|---|---|---|',
    ];
    const lines = [...head, ...asked.map(([name]) => line(name, middle(rounds.get(name) ?? [])))];
    console.log(lines.join('\n'));
    const plans = join(import.meta.dirname, '../plans');
    await mkdir(plans, { recursive: true });
    await writeFile(join(plans, `search-${Number(rows[0]?.posts ?? posts)}.md`), `${lines.join('\n')}\n`);
  } finally {
    await service.stop();
  }
}
