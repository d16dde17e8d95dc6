import type { Locator, Page } from 'playwright-core';
import { clip } from '../media/clips.ts';

/** Shared by the tests of the viewer and the player. */

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** A video of 16 s that Chromium plays. */
export function playableVideo() {
  const options = { deadline: 'realtime', 'cpu-used': '8' };
  const video = { source: 'testsrc2=s=160x90:r=25', encoder: 'libvpx-vp9', options };
  return clip({ format: 'webm', video, audio: { encoder: 'libopus' }, seconds: 16 });
}

export const viewer = (page: Page): Locator => page.getByRole('dialog');
export const titleOf = (page: Page): Locator => viewer(page).getByRole('heading').first();
export const fullScreen = (page: Page): Locator => page.getByRole('button', { name: 'Full screen' });

/** The label with the zoom of a picture. */
export const zoomLabel = (page: Page): Locator => viewer(page).getByText(/^\d+%$/);

/** Returns the zoom of the picture in percent. */
export async function percent(page: Page): Promise<number> {
  return Number.parseInt((await zoomLabel(page).textContent()) ?? '', 10);
}
