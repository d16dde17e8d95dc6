import type { Locator, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { password } from '../support/library.ts';

/** Actions of users that work on any page. */

/** The screen of a phone. */
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/**
 * Follows a link to a page, which costs a fraction of loading it. Like a reader, it may first show what the app has read
 * in the last half minute. The first page is loaded.
 */
export async function visit(page: Page, path: string): Promise<void> {
  const before = page.url();
  if (before === 'about:blank') {
    await page.goto(path);
    return;
  }
  if (before === new URL(path, before).href) return;
  await withoutClosedLayers(page);
  await page.evaluate((href) => {
    const link = document.createElement('a');
    link.href = href;
    // The app handles only clicks inside its element.
    document.querySelector('body > div')?.append(link);
    link.click();
    link.remove();
  }, path);
  await page.waitForURL((url) => url.href !== before);
}

/**
 * Waits until what was closed on a touch screen has left the history, because going back would cancel a navigation that
 * begins meanwhile. What is still open keeps its entry.
 */
async function withoutClosedLayers(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const isLeft = () =>
      JSON.stringify(history.state ?? null).includes('"layer"') &&
      document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') === null;
    for (let tries = 0; tries < 40 && isLeft(); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 25));
  });
}

/** Returns the button that only signed-in users see. */
export function accountButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Account', exact: true });
}

/** Returns the button that only the sign-in page has. */
export function signInButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Sign in', exact: true });
}

/** Submits the sign-in form with a name and a password. */
export async function offerPassword(page: Page, username: string, secret = password): Promise<void> {
  await signInButton(page).waitFor();
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await signInButton(page).click();
}

/** Signs in with the form and waits until the session is active. */
export async function signIn(page: Page, username: string, secret = password): Promise<void> {
  await page.goto('/sign-in');
  await offerPassword(page, username, secret);
  await accountButton(page).waitFor();
}

/** Signs out with the menu and waits for the sign-in page. */
export async function signOut(page: Page): Promise<void> {
  await accountButton(page).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await signInButton(page).waitFor();
}

/** Shows the rare actions of a page, unless they are shown. */
export async function showMore(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: 'More', exact: true });
  if ((await more.getAttribute('aria-expanded')) === 'false') await more.click();
  await page.getByRole('group', { name: 'More', exact: true }).waitFor();
}

/** Returns whether the element has the focus. */
export function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement);
}

/**
 * Waits until the dialog is gone and the button that opened it has the focus again. A control that is filled in before
 * that loses the focus, and the text.
 */
export async function dialogClosed(page: Page, opener: Locator): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => isFocused(opener)).toBe(true);
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/**
 * Returns a point inside it by fractions of its width and height, once it has stopped moving; its centre by default.
 */
export async function placeIn(locator: Locator, across = 0.5, down = 0.5): Promise<Place> {
  await locator.scrollIntoViewIfNeeded();
  // Moved elements are animated, and a list that was just loaded may still grow.
  await locator.evaluate(async (element) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const place = () => JSON.stringify(element.getBoundingClientRect());
    const ending = () =>
      document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
    let before = '';
    while (before !== place()) {
      before = place();
      await Promise.allSettled(ending().map((one) => one.finished));
      await frame();
      await frame();
    }
  });
  const box = await locator.boundingBox();
  if (box === null) throw new Error('it is not in the page');
  return { x: box.x + box.width * across, y: box.y + box.height * down };
}

/** Drags with the mouse from one place to another, in small steps. */
export async function drag(page: Page, from: Place, to: Place): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

/**
 * Returns by how many pixels a page is wider than its window, or the content of an open dialog goes beyond one of its
 * sides, after the page has had time to adapt to a new size. A dialog does not scroll to what is before its start.
 */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const root = document.documentElement;
    const isCut = (element: Element | null, dialog: Element): boolean =>
      element !== null &&
      element !== dialog &&
      (getComputedStyle(element).overflowX !== 'visible' || isCut(element.parentElement, dialog));
    const beyondSides = (dialog: Element): number => {
      const sides = dialog.getBoundingClientRect();
      return [...dialog.querySelectorAll('*')].reduce((most, element) => {
        const { left, right, width } = element.getBoundingClientRect();
        // Half a pixel is the rounding of a dialog that is centred. Text for screen readers is one pixel wide.
        const beyond = Math.max(sides.left - left, right - sides.right) - 0.5;
        return width > 1 && beyond > most && !isCut(element.parentElement, dialog) ? beyond : most;
      }, 0);
    };
    const measure = () => {
      const dialogs = document.querySelectorAll('[role="dialog"], [role="alertdialog"]');
      return Math.max(root.scrollWidth - root.clientWidth, ...Array.from(dialogs, beyondSides));
    };
    const deadline = Date.now() + 5000;
    while (measure() > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    return measure();
  });
}

/** Names the elements that end beyond the right edge of the window, and the widths of both. */
export function beyondEdge(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const beyond = [...document.querySelectorAll('*')].filter(
      (element) =>
        element.getBoundingClientRect().right > clientWidth + 0.5 &&
        // What scrolls sideways is as wide as it needs.
        element.closest('nav ul, nav.overflow-x-auto') === null,
    );
    const names = beyond.map((element) => `<${element.tagName} class="${element.getAttribute('class')}">`);
    return `${names.join(' ')} (${scrollWidth} in ${clientWidth}, ${document.visibilityState})`;
  });
}

/** Returns the natural width of a loaded picture, 0 before. */
export async function naturalWidth(image: Locator): Promise<number> {
  if ((await image.count()) === 0) return 0;
  return image.evaluate((one) => (one instanceof HTMLImageElement ? one.naturalWidth : 0));
}

/** Resolves after the page has processed its input and rendered. */
export async function drawn(page: Page): Promise<void> {
  for (let frames = 0; frames < 3; frames += 1) {
    await page.evaluate(() => new Promise<void>((resolve) => requestIdleCallback(() => resolve())));
  }
}

/** Delays the requests of a page for an address until `letGo` is called; later ones pass immediately. */
export async function holdBack(page: Page, address: string | RegExp): Promise<{ letGo(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    await promise;
    return route.continue();
  });
  return { letGo: resolve };
}

/** Opens an address like `goto`, but the page brings no answers (APP-5): it asks itself, and routes may reply. */
export async function openAsking(page: Page, path: string): Promise<void> {
  await page.setExtraHTTPHeaders({ 'sec-purpose': 'prefetch' });
  await page.goto(path);
  await page.setExtraHTTPHeaders({});
}

/** Returns the paths of the requests that a page sends from now on. */
export function pathsAsked(page: Page, fits: (request: Request) => boolean = () => true): string[] {
  const paths: string[] = [];
  page.on('request', (request) => {
    if (fits(request)) paths.push(new URL(request.url()).pathname);
  });
  return paths;
}

/** Returns an attribute of each of these elements. */
export function attributesOf(elements: Locator, name: string): Promise<(string | null)[]> {
  return elements.evaluateAll((all, name) => all.map((one) => one.getAttribute(name)), name);
}

/** Returns the titles of the posts in a list that match, sorted. */
export async function titlesShown(page: Page, name: RegExp): Promise<(string | undefined)[]> {
  const cards = page.getByRole('list', { name: 'Posts' }).getByRole('link', { name });
  return (await attributesOf(cards, 'aria-label')).map((label) => label?.split(',')[0]).sort();
}
