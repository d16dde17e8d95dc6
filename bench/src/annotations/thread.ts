import type { BrowserContext, Page } from 'playwright-core';
import { call } from '../empty-library.ts';
import { median } from '../load.ts';
import { openPageWork, workUntilNow } from '../page-work.ts';
import type { AnnotatedPost, Scene } from './library.ts';

const REQUESTS = 60;
const VISITS = 9;
/** How many times longer a thread of 5,000 may take than one of 50. */
const MOST = 2;

const milliseconds = (values: readonly number[]) => `${median(values).toFixed(1)} ms`;

function printRatio(what: string, few: readonly number[], many: readonly number[]): void {
  const ratio = median(many) / median(few);
  console.log(
    `  ${what}: ${milliseconds(few)} with 50, ${milliseconds(many)} with 5,000; ratio ${ratio.toFixed(2)} (at most ${MOST})`,
  );
}

/** Returns the milliseconds of a request for a page of a thread. */
async function requestThread({ base, author }: Scene, { id }: AnnotatedPost, query: string): Promise<number> {
  const began = performance.now();
  await (await call(base, `/posts/${id}/comments?${query}`, { headers: { cookie: author.cookie } })).text();
  return performance.now() - began;
}

/** Times of an opened page, in milliseconds. */
interface Opened {
  /** From the start of the navigation until the first comment of the thread is in the page. */
  comment: number;
  /** From the press of the button until the first annotation is drawn on the file in the viewer. */
  mark: number;
  /** Processor time of the main thread until both. */
  work: number;
}

const hasComment = () =>
  document.querySelector('ul[aria-label="Comments"] article') === null ? 0 : performance.now();
const hasMark = () =>
  document.querySelector('[role="dialog"] [data-annotation]') === null ? 0 : performance.now();

async function timeOf(page: Page, isThere: () => number): Promise<number> {
  return (await page.waitForFunction(isThere)).jsonValue();
}

/** Opens the page of a post and then its file in the viewer. */
async function openPost(context: BrowserContext, { id }: AnnotatedPost): Promise<Opened> {
  const page = await context.newPage();
  try {
    const session = await openPageWork(page);
    await page.goto(`/posts/${id}`, { waitUntil: 'commit' });
    const comment = await timeOf(page, hasComment);
    await page.waitForLoadState('load');
    const pressed = await page.evaluate(() => {
      const button = document.querySelector('button[aria-label="Full screen"]');
      if (!(button instanceof HTMLElement)) throw new Error('the file cannot be opened');
      button.click();
      return performance.now();
    });
    const mark = (await timeOf(page, hasMark)) - pressed;
    const { all: work } = await workUntilNow(session);
    return { comment, mark, work };
  } finally {
    await page.close();
  }
}

/** Compares the thread of 5,000 annotations with one of 50: its first page, its page, and the file in the viewer. */
export async function benchThreads(scene: Scene, context: BrowserContext): Promise<void> {
  const { few, many } = scene.picture;
  const inThread = { few: [] as number[], many: [] as number[] };
  for (let at = -5; at < REQUESTS; at += 1) {
    const times = [
      await requestThread(scene, few, 'limit=20'),
      await requestThread(scene, many, 'limit=20'),
    ] as const;
    // The first ones fill caches.
    if (at < 0) continue;
    inThread.few.push(times[0]);
    inThread.many.push(times[1]);
  }
  printRatio('first page of the thread', inThread.few, inThread.many);
  const opened = { few: [] as Opened[], many: [] as Opened[] };
  for (let at = -1; at < VISITS; at += 1) {
    const visits = [await openPost(context, few), await openPost(context, many)] as const;
    if (at < 0) continue;
    opened.few.push(visits[0]);
    opened.many.push(visits[1]);
  }
  const print = (what: string, value: (one: Opened) => number) =>
    printRatio(what, opened.few.map(value), opened.many.map(value));
  print('page of the post until its first comment', ({ comment }) => comment);
  print('viewer until its first mark', ({ mark }) => mark);
  print('processor time of both', ({ work }) => work);
}
