import { loadavg } from 'node:os';
import { openBrowser } from '../../../server/test/support/browser.ts';
import { openEmptyLibrary } from '../empty-library.ts';
import { benchDecisions, contextOf } from './decisions.ts';
import { fillLibrary } from './library.ts';
import { benchThreads } from './thread.ts';
import { benchViewer } from './viewer.ts';

/**
 * `bench annotations`: compares threads of 50 and 5,000 annotations, measures the frames of the viewer with 500 of them,
 * and the time until a decision of a review reaches other open pages, in Chromium.
 */
export async function benchAnnotations(): Promise<void> {
  const library = await openEmptyLibrary();
  const browser = await openBrowser({ compiles: true });
  const begin = (what: string) => console.log(`${what}, at a load of ${loadavg()[0]?.toFixed(1)}`);
  try {
    const scene = await fillLibrary(library);
    const context = await contextOf(browser, scene.base, scene.author);
    begin('Threads');
    await benchThreads(scene, context);
    begin('Viewer');
    await benchViewer(scene, context);
    await context.close();
    begin('Decisions');
    await benchDecisions(scene, browser, library.service);
  } finally {
    await browser.close();
    await library.close();
  }
}
