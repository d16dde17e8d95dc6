import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSession } from '@vitrine/server/sessions';
import { corpusDirectory, joinDatabase, spawnService } from './library.ts';
import { type Load, load } from './load.ts';

const LIMIT = 24;
const READER = 42;

/** A rare word, a common one, both, a beginning, a misspelling, and what narrows beside them. */
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
};

function line(name: string, { requestsPerSecond, p50, p95 }: Load, feed: Load): string {
  const ratio = (p95 / feed.p95).toFixed(2);
  return `| ${name} | ${requestsPerSecond.toFixed(0)} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${ratio} |`;
}

/** How searches compare with a page of the feed on the same library. */
export async function benchSearch(posts: number, seconds: number, given: string | undefined): Promise<void> {
  const directory = given ?? (await corpusDirectory(posts));
  const service = await spawnService(directory);
  try {
    const database = joinDatabase(directory);
    await database.pool.query('analyze');
    const token = await startSession(database.db, {
      userRef: READER,
      days: 1,
      address: '',
      userAgent: 'bench',
    });
    await database.close();
    const headers = { cookie: `user=${token}` };
    const ask = (path: string) => load(`${service.address}/api/v1/${path}`, headers, seconds);
    await ask(`posts?limit=${LIMIT}`);
    const feed = await ask(`posts?limit=${LIMIT}`);
    const lines = ['| question | a second | p50 ms | p95 ms | p95 to the feed’s |', '|---|---|---|---|---|'];
    lines.push(line('the feed', feed, feed));
    for (const [name, query] of Object.entries(questions)) {
      lines.push(line(name, await ask(`search?${query}&limit=${LIMIT}`), feed));
      console.log(lines.at(-1));
    }
    lines.push(line('suggestions', await ask('search/suggest?q=pict'), feed));
    console.log(lines.join('\n'));
    const plans = join(import.meta.dirname, '../plans');
    await mkdir(plans, { recursive: true });
    await writeFile(join(plans, `search-${posts}.md`), `${lines.join('\n')}\n`);
  } finally {
    await service.stop();
  }
}
