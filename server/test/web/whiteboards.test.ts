import type { Whiteboard } from '@vitrine/contract/whiteboards';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { png } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { drag, overhang, phone, placeIn, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const wide = { viewport: { width: 1440, height: 900 } };
const ana = await studio.join('ana', 'Ana Sol', wide);
const otto = await studio.join('otto', 'Otto Berg', phone);
const picture = await uploadReady(ana, await png(600, 400, 70), { title: 'Bay' });
const post = await publish(ana, 'Bay at noon', [picture]);

const surface = (page: Page) => page.getByRole('application', { name: 'Whiteboard' });
const tool = (page: Page, name: string) =>
  page.getByRole('toolbar', { name: 'Drawing tools' }).getByRole('button', { name, exact: true });
const saved = (page: Page) => page.getByText('Saved.', { exact: true }).waitFor();
const boards = async (): Promise<Whiteboard[]> =>
  (await call(ana, 'GET', `/posts/${post}/whiteboards`)).items;

/** Draws from one place of the board to another, both in fractions of it. */
async function draw(page: Page, from: readonly [number, number], to: readonly [number, number]) {
  await drag(page, await placeIn(surface(page), ...from), await placeIn(surface(page), ...to));
}

test.each([
  ['a desk', () => ana],
  ['a phone', () => otto],
] as const)('on %s, a reader draws on a new whiteboard, which is saved by itself', async (_, who) => {
  const page = who();
  await page.goto(`/posts/${post}`);
  await page.getByRole('link', { name: 'New whiteboard' }).click();
  await surface(page).waitFor();
  await page.getByText('It is saved as you draw.').waitFor();
  await draw(page, [0.1, 0.2], [0.4, 0.3]);
  await saved(page);
  await page.getByLabel('Title').fill('Crop tighter');
  await tool(page, 'Arrow').click();
  await tool(page, 'Blue').click();
  await draw(page, [0.5, 0.5], [0.8, 0.6]);
  await tool(page, 'Rectangle').click();
  await draw(page, [0.2, 0.6], [0.4, 0.8]);
  await tool(page, 'Text').click();
  const place = await placeIn(surface(page), 0.55, 0.2);
  await page.mouse.click(place.x, place.y);
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('less sky');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await boards())[0]?.strokes.length).toBe(4);
  expect(await overhang(page)).toBe(0);

  const [board] = await boards();
  expect(board).toMatchObject({ title: 'Crop tighter', author: { username: page === ana ? 'ana' : 'otto' } });
  const [pen, arrow, rect, text] = board?.strokes ?? [];
  expect(pen).toMatchObject({ tool: 'pen', color: '#e5484d' });
  const near = (points: number[][] | undefined) => points?.flat().map((one) => Math.round(one * 20) / 20);
  expect(near(pen?.points.slice(0, 1))).toEqual([0.1, 0.2]);
  expect(arrow).toMatchObject({ tool: 'arrow', color: '#2f6fed' });
  expect(near(arrow?.points)).toEqual([0.5, 0.5, 0.8, 0.6]);
  expect(rect?.tool).toBe('rect');
  expect(near(rect?.points)).toEqual([0.2, 0.6, 0.4, 0.8]);
  expect(text).toMatchObject({ tool: 'text', text: 'less sky' });

  // The address is that of the stored board.
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/posts/${post}/whiteboards/${board?.id}`);
});

test('the address of a board opens it with everything, which can be cleared and brought back', async () => {
  await ana.reload();
  await expect.poll(() => ana.getByLabel('Title').inputValue()).toBe('Crop tighter');
  await ana.keyboard.press('Control+z');
  await tool(ana, 'Clear').click();
  await tool(ana, 'Undo').click();
  await ana.getByText('A drawing of 4 strokes, with the text “less sky”.').waitFor({ state: 'attached' });
  await ana.getByRole('link', { name: 'Back to Bay at noon' }).click();
  await ana.getByRole('link', { name: 'Crop tighter' }).first().waitFor();
});

test('the keyboard draws, and undo and redo are saved', async () => {
  await visit(ana, `/posts/${post}/whiteboards/new`);
  await surface(ana).focus();
  for (const key of ['a', 'Space', 'Shift+ArrowRight', 'ArrowDown', 'Space']) await ana.keyboard.press(key);
  await saved(ana);
  const strokes = async () => (await boards())[0]?.strokes;
  await expect.poll(strokes).toMatchObject([
    {
      tool: 'arrow',
      points: [
        [0.5, 0.5],
        [0.6, expect.closeTo(0.5267, 3)],
      ],
    },
  ]);
  await ana.keyboard.press('Control+z');
  await expect.poll(async () => (await strokes())?.length).toBe(0);
  await ana.keyboard.press('Control+Shift+z');
  await expect.poll(async () => (await strokes())?.length).toBe(1);
});

test('other readers see a board as it is drawn and cannot draw on it; its author may delete it', async () => {
  const [board] = await boards();
  await studio.library.setPublicMode(true);
  await call(ana, 'PATCH', `/posts/${post}`, { visibility: 'public' });
  const visitor = await studio.openPage();
  await visitor.goto(`/posts/${post}/whiteboards/${board?.id}`);
  await visitor.getByRole('img', { name: 'A drawing of 1 stroke' }).waitFor();
  await visit(otto, `/posts/${post}/whiteboards/${board?.id}`);
  await otto.getByRole('img', { name: 'A drawing of 1 stroke' }).waitFor();
  expect(await otto.getByRole('toolbar').count()).toBe(0);
  expect(await otto.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  await surface(ana).focus();
  for (const key of ['p', 'Space', 'ArrowUp', 'Space']) await ana.keyboard.press(key);
  await otto.getByRole('img', { name: 'A drawing of 2 strokes' }).waitFor();
  await visitor.getByRole('img', { name: 'A drawing of 2 strokes' }).waitFor();
  await visitor.context().close();
  await studio.library.setPublicMode(false);
  await ana.getByRole('button', { name: 'Delete', exact: true }).click();
  await ana.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await ana.getByRole('link', { name: 'New whiteboard' }).waitFor();
  await expect.poll(async () => (await boards()).map(({ id }) => id)).not.toContain(board?.id);
});

// BOARD-9
test('an author with two windows chooses which drawing stays', async () => {
  const strokes = [{ points: [[0.2, 0.2]] }];
  const { id } = await call(ana, 'POST', `/posts/${post}/whiteboards`, { title: 'Twice', strokes });
  await visit(ana, `/posts/${post}/whiteboards/${id}`);
  await surface(ana).waitFor();
  const other = { title: 'Elsewhere', strokes: [] };
  await call(ana, 'PATCH', `/whiteboards/${id}`, other);
  await draw(ana, [0.3, 0.3], [0.6, 0.6]);
  await ana.getByRole('alertdialog', { name: 'The whiteboard has changed' }).waitFor();
  await ana.getByRole('button', { name: 'Keep mine' }).click();
  await saved(ana);
  const kept = async () => (await call(ana, 'GET', `/whiteboards/${id}`)).strokes;
  await expect.poll(kept).toHaveLength(2);
  await call(ana, 'PATCH', `/whiteboards/${id}`, other);
  await tool(ana, 'Clear').click();
  await ana.getByRole('button', { name: 'Load the newer one' }).click();
  await expect.poll(() => ana.getByLabel('Title').inputValue()).toBe('Elsewhere');
});
