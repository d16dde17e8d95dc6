import { basename } from 'node:path';
import { expect, test, vi } from 'vitest';
import { jobHandlers } from '../../src/boot/jobs.ts';
import type { Config } from '../../src/core/config.ts';
import { demoCommand } from '../../src/operate/demo/command.ts';
import { demoAdministrator } from '../../src/operate/demo/fill.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { openLibrary } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';

const { username, password } = demoAdministrator;
const library = await openLibrary({ VITRINE_ADMIN_USERNAME: username, VITRINE_ADMIN_PASSWORD: password });
const { deps } = library;

/** Drawing and reading large pictures would take most of the time. */
const SCALE = 1 / 20;

const two = (number: number) => String(number).padStart(2, '0');
const dayOf = (date: Date) => `${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** Runs `vitrine demo` with this library in place of one of its own, and returns what it said and the settings it chose. */
async function runDemo(): Promise<{ said: string; config: Config | null }> {
  let config: Config | null = null;
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const start = async (chosen: Config) => {
    config = chosen;
    return { url: library.address, deps };
  };
  await demoCommand(library.config, start, async () => {}, SCALE);
  const said = log.mock.calls.join('\n');
  log.mockRestore();
  return { said, config };
}

// The pictures are read, but not drawn in every size, which takes most of the time of a sample library.
const readPictures = () =>
  runDueJobs({
    pool: library.database.pool,
    handlers: { extract: jobHandlers(deps).extract },
    concurrency: 2,
    log: deps.log,
  });

// SETTING-10
test('vitrine demo fills every part of a library of its own, once', { timeout: 240_000 }, async () => {
  const days = [dayOf(new Date())];
  const { said, config } = await runDemo();
  days.push(dayOf(new Date()));
  expect(said).toContain(`sign in as ${username} with the password ${password}`);
  expect(said).toMatch(/the sample library is complete \(\d+ s\)$/);
  expect(config).toMatchObject({ demo: true, databaseUrl: null, s3: null });
  expect(basename(config?.dataDir ?? '')).toBe('demo');
  await readPictures();

  const demo = library.anonymous();
  await demo.ok('login', { body: { username, password } });
  const { months } = await demo.ok('getTimeline', {});
  const years = new Set(months.map(({ month }) => month?.slice(0, 4)));
  const undated = months.find(({ month }) => month === null)?.count ?? 0;
  expect([years.size >= 5, undated]).toEqual([true, 2]);
  const { clusters } = await demo.ok('listPlaces', { query: { bbox: '-180,-90,180,90', zoom: 4 } });
  expect(clusters.length).toBeGreaterThanOrEqual(5);
  const taken = await Promise.all(
    [...new Set(days)].map((taken_day) => demo.ok('listAssets', { query: { taken_day } })),
  );
  expect(taken.flatMap(({ items }) => items).length).toBeGreaterThanOrEqual(5);

  const counts = async () => {
    const posts = (await pagesOf((from) => demo.ok('listPosts', { query: { ...from } }))).flat();
    const [film] = posts.filter(({ title }) => title === 'Light on water');
    const [talk] = posts.filter(({ title }) => title === 'Above the tree line');
    const comments = await demo.ok('listComments', { params: { id: talk?.id ?? '' } });
    const people = await demo.ok('listPeople', {});
    return {
      posts: posts.length,
      films: film?.members.length,
      replies: comments.items.flatMap(({ replies }) => replies).length,
      faces: people.items.filter(({ avatar_url }) => avatar_url !== null).length,
      teams: (await demo.ok('listTeams', {})).items.length,
      collections: (await demo.ok('listCollections', {})).items.length,
      requests: (await demo.ok('listAllRequests', {})).items.length,
      reviews: (await demo.ok('listMyReviews', { query: { state: 'waiting_for_me' } })).items.length,
      links: (await demo.ok('listAllLinks', {})).items.length,
    };
  };
  const filled = await counts();
  expect(filled).toEqual({
    posts: 27,
    films: 1,
    replies: 1,
    faces: 6,
    teams: 2,
    collections: 3,
    requests: 1,
    reviews: 1,
    links: 1,
  });
  await runDemo();
  expect(await counts()).toEqual(filled);
});
