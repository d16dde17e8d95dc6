import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { mp4 } from '../media/tagged-files.ts';
import { jpeg, plainFile, png } from '../support/pictures.ts';
import { call, fileOf, upload } from './call.ts';
import { naturalWidth, overhang, pathsAsked, phone, signOut, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
let page = await studio.enter('mara');

/** Opens the form of a new post without the one that was not finished. */
async function begin(on = page): Promise<void> {
  // Only a post that was left is offered again.
  if (on.url().endsWith('/new')) await visit(on, '/tags');
  await visit(on, '/new');
  await on.getByRole('heading', { name: 'New post' }).waitFor();
  const another = on.getByRole('button', { name: 'Start another post' });
  if ((await another.count()) > 0) await another.click();
}
await begin();

const rows = () => page.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
const picker = () => page.getByLabel('Choose files');

/** Pastes into what has the focus, as the system's clipboard would: a picture, and the text beside it if any. */
function paste(text?: string): Promise<boolean> {
  return page.evaluate(async (text) => {
    const canvas = new OffscreenCanvas(8, 8);
    canvas.getContext('2d')?.fillRect(0, 0, 8, 8);
    const clipboard = new DataTransfer();
    if (text !== undefined) {
      clipboard.setData('text/plain', text);
      clipboard.setData('text/html', `<b>${text}</b>`);
    }
    clipboard.items.add(new File([await canvas.convertToBlob()], 'image.png', { type: 'image/png' }));
    const target = document.activeElement ?? document.body;
    const event = new ClipboardEvent('paste', { clipboardData: clipboard, bubbles: true, cancelable: true });
    // True if the default paste action was not prevented.
    return target.dispatchEvent(event);
  }, text);
}

test('pastes rich text into a field as text and a picture as a file', async () => {
  await page.getByLabel('Description', { exact: true }).focus();
  expect(await paste('Three mornings')).toBe(true);
  expect(await rows().count()).toBe(0);
  expect(await paste()).toBe(false);
  await rows().first().waitFor();
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  expect(await paste('Three mornings')).toBe(false);
  await expect.poll(() => rows().count()).toBe(2);
});

test('uploads at most two files concurrently, previews them, and refuses more than 200', async () => {
  await begin();
  const plain = (at: number) => fileOf(`${at}.bin`, plainFile(`${at}`), 'application/octet-stream');
  const picture = fileOf('p.jpg', await jpeg(90, 60));
  // Delays each upload, so that concurrent ones can be counted.
  const held: (() => void)[] = [];
  let [under, sent] = [0, 0];
  await page.route('**/api/v1/assets', async (route) => {
    under += 1;
    sent += 1;
    await new Promise<void>((resolve) => held.push(resolve));
    under -= 1;
    await route.continue();
  });
  await picker().setInputFiles(Array.from({ length: 201 }, (_, at) => plain(at)));
  await page.getByText('at most 200 files, and you chose 201').waitFor();
  expect([await rows().count(), sent]).toEqual([0, 0]);

  await picker().setInputFiles([picture, plain(1), plain(2)]);
  await expect.poll(() => naturalWidth(page.locator('img[src^="blob:"]'))).toBe(90);
  for (let done = 1; done <= 3; done += 1) {
    await expect.poll(() => under).toBe(Math.min(2, 4 - done));
    held.shift()?.();
    await expect.poll(() => rows().filter({ hasText: 'Uploaded,' }).count()).toBe(done);
  }
  await page.unrouteAll({ behavior: 'wait' });
});

test.each([
  ['by itself', true],
  ['once it is chosen again if the browser did not keep it', false],
])('resumes a large upload in another tab after losing the network and the page, %s', async (_, isKept) => {
  const name = `large-${isKept}.bin`;
  const path = join(studio.directory, name);
  await writeFile(path, randomBytes(9 * 1024 * 1024));
  await begin();
  // The upload begins, but no bytes arrive.
  let tries = 0;
  await page.route('**/api/v1/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    tries += 1;
    await route.abort('connectionreset');
  });
  await picker().setInputFiles(path);
  await expect.poll(() => tries).toBeGreaterThan(0);
  const next = await page.context().newPage();
  await page.close();
  if (!isKept) {
    await next.goto('/tags');
    await next.evaluate(async () => {
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name ?? '');
    });
  }
  page = next;

  const isBeginning = (one: Request) => one.method() === 'POST' && one.url().endsWith('/uploads');
  const begun = pathsAsked(page, isBeginning);
  await page.goto('/new');
  const left = page.getByRole('region', { name: 'Unfinished uploads' });
  if (!isKept) {
    await left.getByText(name).waitFor();
    await picker().setInputFiles(path);
  }
  await rows().filter({ hasText: 'Uploaded,' }).waitFor();
  expect(begun).toEqual([]);
  await left.waitFor({ state: 'hidden' });
  await expect.poll(async () => (await call(page, 'GET', '/uploads')).items).toEqual([]);
});

test('uploads a folder with its subtitles and warns about unusual files', async () => {
  const folder = join(studio.directory, 'folder');
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, '.hidden'), 'x');
  await writeFile(join(folder, 'movie.de.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHallo\n');
  await writeFile(join(folder, 'inner', 'empty.txt'), '');
  await writeFile(join(folder, 'inner', 'picture.jpg'), await png(30, 20, 3));
  await writeFile(join(folder, 'inner', 'picture copy.png'), await png(30, 20, 3));
  await writeFile(join(folder, 'movie.mp4'), mp4(2));
  await begin();
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await expect.poll(() => rows().filter({ hasText: 'Uploaded,' }).count()).toBe(4);
  await expect.poll(() => rows().count()).toBe(4);
  await page.getByText('movie.de.srt: Subtitles of movie.mp4').waitFor();
  await rows().filter({ hasText: 'This file is empty.' }).waitFor();
  await rows().filter({ hasText: 'Its name says JPG, but it is a PNG file.' }).waitFor();
  await rows().filter({ hasText: 'You have this file already' }).first().waitFor();
  const films = async () => (await call(page, 'GET', '/assets?asset_type=3')).items;
  await expect.poll(films).toMatchObject([{ subtitle_tracks: [{ lang: 'de' }] }]);
});

test('warns about a file with a wider audience and can restrict it to the post’s', async () => {
  await call(page, 'PATCH', '/admin/system/site', { default_sensitivity: 'public' });
  await begin();
  await picker().setInputFiles(fileOf('tide.jpg', await jpeg(320, 200)));
  const warning = page.getByRole('region', { name: 'Files with a wider audience' });
  await warning.getByText('tide').waitFor();
  await rows().filter({ hasText: 'Everyone, including visitors' }).waitFor();
  await page.getByLabel('Everyone, including visitors').check();
  await warning.waitFor({ state: 'detached' });
  await page.getByLabel('Only you').check();
  await warning.getByRole('button', { name: 'Let it follow the post' }).click();
  await warning.waitFor({ state: 'detached' });
  await expect.poll(() => rows().filter({ hasText: 'visitors' }).count()).toBe(0);
  const latest = async () => (await call(page, 'GET', '/assets?limit=1')).items[0];
  await expect.poll(latest).toMatchObject({ sensitivity: 'posts' });
});

const draftsOf = async (on: Page) => (await call(on, 'GET', '/posts?draft=true&limit=50')).items;
const saved = (on: Page) => on.getByText('Saved as a draft.').waitFor();
const audience = (on: Page, name: RegExp) => on.getByRole('radio', { name });
const tilesOf = (on: Page) => on.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
const namesIn = async (on: Page) =>
  (await tilesOf(on).locator('p[title]').allInnerTexts()).map((text) =>
    text.replace(/^.*?\d+\. /s, '').trim(),
  );

const desktop = { viewport: { width: 1440, height: 900 } };

test('a new post on a phone survives a reload, other pages, and the end of the browser, and continues on a desktop', async () => {
  const ana = await studio.join('ana', undefined, phone);
  await ana.goto('/new');
  // Before there is a file, the browser remembers.
  await ana.getByLabel('Title', { exact: true }).fill('Harbour');
  await audience(ana, /^Only you/).check();
  await ana.reload();
  await ana.getByText('This is the post that you did not finish').waitFor();
  await expect.poll(() => audience(ana, /^Only you/).isChecked()).toBe(true);

  const files = await Promise.all(
    [10, 9, 1].map(async (at) => fileOf(`img ${at}.jpg`, await jpeg(60, 40 + at))),
  );
  await ana.getByLabel('Choose files').setInputFiles(files);
  await ana.getByLabel('Description').fill('Three mornings ');
  await ana.getByLabel('Tags').fill('dusk');
  await ana.getByLabel('Tags').press('Enter');
  await saved(ana);
  await expect.poll(() => namesIn(ana)).toEqual(['img 1', 'img 9', 'img 10']);
  // It is saved piece by piece.
  const texts = { title: 'Harbour', description: 'Three mornings', visibility: 'private', tags: ['dusk'] };
  const stored = async () => (await draftsOf(ana))[0];
  await expect.poll(stored).toMatchObject({ ...texts, members: [{}, {}, {}] });
  const draft = await stored();

  const isRestored = async (on: Page) => {
    await expect.poll(() => on.getByLabel('Title', { exact: true }).inputValue()).toBe('Harbour');
    await expect.poll(() => namesIn(on)).toEqual(['img 1', 'img 9', 'img 10']);
    await expect.poll(() => on.getByRole('button', { name: 'Remove tag dusk' }).count()).toBe(1);
    await expect.poll(() => audience(on, /^Only you/).isChecked()).toBe(true);
    await expect.poll(() => overhang(on)).toBe(0);
  };
  await ana.reload();
  await isRestored(ana);
  await visit(ana, '/tags');
  await visit(ana, '/new');
  await isRestored(ana);

  // The last change is not saved yet when the page crashes.
  await ana.getByLabel('Title', { exact: true }).fill('Harbour at noon');
  const again = await ana.context().newPage();
  await ana.close();
  await again.goto('/new');
  await expect.poll(() => again.getByLabel('Title', { exact: true }).inputValue()).toBe('Harbour at noon');
  await expect.poll(() => audience(again, /^Only you/).isChecked()).toBe(true);
  const title = async () => (await draftsOf(again))[0]?.title;
  await expect.poll(title).toBe('Harbour at noon');
  await again.getByLabel('Title', { exact: true }).fill('Harbour');
  await expect.poll(title).toBe('Harbour');
  await again.context().close();

  // Another browser knows nothing, so the page offers the draft.
  const other = await studio.enter('ana', desktop);
  await other.goto('/new');
  await other
    .getByRole('region', { name: 'Your drafts' })
    .getByRole('link', { name: /Harbour/ })
    .click();
  await other.getByRole('heading', { name: 'Edit draft' }).waitFor();
  await isRestored(other);
  expect(await draftsOf(other)).toHaveLength(1);
  await other.getByRole('button', { name: 'Publish' }).click();
  await other.waitForURL(/\/posts\/[0-9a-f-]{36}$/);
  expect(await call(other, 'GET', `/posts/${draft.id}`)).toMatchObject({
    draft: false,
    visibility: 'private',
  });
});

const ben = await studio.join('ben', undefined, phone);

test('keeps Publish within reach of two dozen files, sorts them, and shows the progress of all', async () => {
  await ben.goto('/new');
  const held = Promise.withResolvers<void>();
  await ben.route('**/api/v1/assets', async (route) => {
    await held.promise;
    await route.continue();
  });
  const files = Array.from({ length: 24 }, (_, at) =>
    fileOf(`${24 - at}.bin`, plainFile(`${at}`), 'application/octet-stream'),
  );
  await ben.getByLabel('Choose files').setInputFiles(files);
  await expect.poll(() => tilesOf(ben).count()).toBe(24);
  const names = Array.from({ length: 24 }, (_, at) => `${at + 1}.bin`);
  await expect.poll(() => namesIn(ben)).toEqual(names);
  await ben.getByText('Uploading: 0 of 24 files.').waitFor();
  const publish = ben.getByRole('button', { name: 'Publish' });
  await expect.poll(() => publish.isDisabled()).toBe(true);
  const lowerEdge = async () => {
    const box = await publish.boundingBox();
    return (box?.y ?? Infinity) + (box?.height ?? 0);
  };
  await expect.poll(lowerEdge).toBeLessThanOrEqual(phone.viewport.height);
  expect((await tilesOf(ben).last().boundingBox())?.y).toBeGreaterThan(2 * phone.viewport.height);

  // Leaving stops nothing.
  await ben.getByRole('link', { name: 'Studio North' }).click();
  await ben.waitForURL(/\/$/);
  await visit(ben, '/new');
  await expect.poll(() => namesIn(ben)).toEqual(names);
  held.resolve();
  // Two at a time.
  await saved(ben);
  const stored = async () =>
    (await draftsOf(ben))[0]?.members.map(({ asset }: { asset: { title: string } }) => asset.title);
  await expect.poll(stored).toEqual(names.map((name) => name.replace('.bin', '')));
  await ben.getByRole('button', { name: 'Move 1 later' }).click();
  await expect.poll(async () => (await stored()).slice(0, 2)).toEqual(['2', '1']);
  await expect.poll(() => ben.getByLabel('Order', { exact: true }).inputValue()).toBe('own');
  await ben.getByLabel('Order', { exact: true }).selectOption('By name');
  await expect.poll(async () => (await stored()).slice(0, 2)).toEqual(['1', '2']);
});

const eva = await studio.join('eva', undefined, desktop);

test('files on their way survive a reload and other pages, in their order', async () => {
  await eva.goto('/new');
  let lets = 1;
  const waiting = Promise.withResolvers<void>();
  await eva.route('**/api/v1/assets', async (route) => {
    lets -= 1;
    if (lets < 0) await waiting.promise;
    // A page that was left has no requests.
    await route.continue().catch(() => undefined);
  });
  const taken = async (name: string, day: number) => {
    const picture = sharp(await jpeg(60, 40 + day)).withExif({
      IFD2: { DateTimeOriginal: `2024:05:${String(day).padStart(2, '0')} 12:00:00` },
    });
    return fileOf(name, await picture.jpeg().toBuffer());
  };
  const files = [await taken('a.jpg', 12), await taken('b.jpg', 3), await taken('c.jpg', 27)];
  await eva.getByLabel('Choose files').setInputFiles(files);
  await eva.getByLabel('Title', { exact: true }).fill('On the way');
  await eva.getByLabel('Order', { exact: true }).selectOption('By date taken');
  await expect.poll(() => namesIn(eva)).toEqual(['b.jpg', 'a', 'c.jpg']);
  const kept = () =>
    eva.evaluate(async () => {
      const [{ name }] = (await indexedDB.databases()).filter((one) => one.name?.includes('files')) as [
        { name: string },
      ];
      const opening = indexedDB.open(name);
      await new Promise((resolve) => {
        opening.onsuccess = resolve;
      });
      const reading = opening.result.transaction('files').objectStore('files').getAllKeys();
      await new Promise((resolve) => {
        reading.onsuccess = resolve;
      });
      opening.result.close();
      return reading.result.length;
    });
  await expect.poll(kept).toBe(4);

  await eva.reload();
  await eva.getByText('This is the post that you did not finish').waitFor();
  await expect.poll(() => namesIn(eva)).toEqual(['b.jpg', 'a', 'c.jpg']);
  expect(await eva.getByText(/had not arrived/).count()).toBe(0);
  await expect.poll(() => eva.getByLabel('Order', { exact: true }).inputValue()).toBe('taken');

  // What arrives while another page is open becomes part of the post, too.
  await visit(eva, '/tags');
  const { ref } = await call(eva, 'GET', '/auth/me');
  const arrived = async () => (await call(eva, 'GET', `/assets?owner_ref=${ref}`)).items.length;
  waiting.resolve();
  await expect.poll(arrived).toBe(3);
  await eva.reload();
  await expect.poll(() => draftsOf(eva)).toMatchObject([{ members: [{}] }]);
  await visit(eva, '/new');
  await saved(eva);
  await expect.poll(() => namesIn(eva)).toEqual(['b', 'a', 'c']);
  const titles = async () =>
    (await draftsOf(eva))[0]?.members.map(({ asset }: { asset: { title: string } }) => asset.title);
  await expect.poll(titles).toEqual(['b', 'a', 'c']);
  expect(await arrived()).toBe(3);
  await expect.poll(kept).toBe(0);
  await eva.getByRole('button', { name: 'Publish' }).click();
  await eva.waitForURL(/\/posts\/[0-9a-f-]{36}$/);
  await expect.poll(() => draftsOf(eva)).toEqual([]);
  await eva.unrouteAll({ behavior: 'wait' });
});

test('a page that is left before it learns that its draft exists continues that draft', async () => {
  await begin(eva);
  const created = Promise.withResolvers<void>();
  await eva.route(
    '**/api/v1/posts',
    async (route) => {
      await route.fetch();
      created.resolve();
    },
    { times: 1 },
  );
  await audience(eva, /^People you choose/).check();
  await eva.getByLabel('Add a person').fill('ben');
  await eva.getByLabel('Add a person').press('Enter');
  await eva.getByRole('button', { name: /^Remove ben/ }).waitFor();
  await eva.getByLabel('Choose files').setInputFiles(fileOf('pier.jpg', await jpeg(60, 40)));
  await created.promise;
  await eva.reload();
  await eva.getByText('This is the post that you did not finish').waitFor();
  await eva.getByLabel('Title', { exact: true }).fill('Pier');
  await saved(eva);
  await expect.poll(() => draftsOf(eva)).toMatchObject([{ title: 'Pier', members: [{}] }]);
  const [draft] = await draftsOf(eva);
  const { items: shares } = await call(eva, 'GET', `/posts/${draft.id}/shares`);
  expect(shares).toMatchObject([{ user: { username: 'ben' } }]);
});

test('uses a file of the library instead of a copy, and moves files that are not wanted to the trash', async () => {
  const cleo = await studio.join('cleo');
  const bytes = await jpeg(80, 60, { seed: 77 });
  const ridge = await upload(cleo, bytes, {}, 'Ridge.jpg');
  await cleo.goto('/new');
  // The copy goes to the trash although the draft that is being stored has it.
  const { promise: used, resolve: use } = Promise.withResolvers<void>();
  await cleo.route('**/api/v1/posts', async (route) => {
    const response = await route.fetch();
    await used;
    await route.fulfill({ response });
  });
  const creating = cleo.waitForRequest('**/api/v1/posts');
  const choice = cleo.getByLabel('Choose files');
  await choice.setInputFiles(fileOf('copy.jpg', bytes));
  await creating;
  const copy = tilesOf(cleo).filter({ hasText: 'You have this file already: “Ridge”.' });
  await copy.getByRole('button', { name: 'Use that one instead' }).click();
  await expect.poll(() => namesIn(cleo)).toEqual(['Ridge']);
  use();
  await choice.setInputFiles(fileOf('b.zip', plainFile('PK'), 'application/zip'));
  await expect.poll(() => namesIn(cleo)).toEqual(['b', 'Ridge']);
  // An archive is not the cover if there is a picture.
  await tilesOf(cleo).filter({ hasText: 'Ridge' }).getByText('Cover').waitFor();
  await saved(cleo);
  await expect.poll(async () => (await draftsOf(cleo))[0]?.cover_asset_id).toBe(ridge.id);
  const { ref } = await call(cleo, 'GET', '/auth/me');
  const titles = async () =>
    (await call(cleo, 'GET', `/assets?owner_ref=${ref}`)).items.map(({ title }: { title: string }) => title);
  await expect.poll(titles).toEqual(['b', 'Ridge']);
  await cleo.getByRole('button', { name: 'Remove b', exact: true }).click();
  await expect.poll(titles).toEqual(['Ridge']);

  // The last file takes the stored draft with it; the text stays.
  await cleo.getByLabel('Title', { exact: true }).fill('Kept');
  await cleo.getByRole('button', { name: 'Remove Ridge' }).click();
  await expect.poll(() => draftsOf(cleo)).toEqual([]);
  expect(await cleo.getByLabel('Title', { exact: true }).inputValue()).toBe('Kept');
  expect(await titles()).toEqual(['Ridge']);
  await cleo.getByRole('button', { name: 'Choose from your files' }).click();
  await cleo.getByRole('list', { name: 'Your files' }).getByRole('button', { name: 'Ridge' }).click();
  await cleo.getByRole('button', { name: 'Add 1' }).click();
  await saved(cleo);

  await cleo.getByRole('button', { name: 'Discard this post' }).click();
  await cleo.getByRole('alertdialog').getByRole('button', { name: 'Discard', exact: true }).click();
  await expect.poll(() => draftsOf(cleo)).toEqual([]);
  await expect.poll(() => cleo.getByLabel('Title', { exact: true }).inputValue()).toBe('');
  expect(await titles()).toEqual(['Ridge']);
});

test('publishes a post later, which drafts and the editor show', async () => {
  await begin(ben);
  await ben.getByLabel('Choose files').setInputFiles(fileOf('a.jpg', await jpeg(60, 40, { seed: 5 })));
  await ben.getByLabel('Title', { exact: true }).fill('Next year');
  await saved(ben);
  await ben.getByRole('button', { name: 'Choose a time' }).click();
  const time = ben.getByLabel('Date and time');
  await time.fill('2020-01-01T09:00');
  await ben.getByRole('button', { name: 'Schedule' }).click();
  await ben.getByText('Choose a time in the future.').waitFor();
  await time.fill('2031-02-03T09:30');
  await ben.getByRole('button', { name: 'Schedule' }).click();
  await ben.getByText(/^Draft, appears on .*2031/).waitFor();
  const [draft] = await draftsOf(ben);
  expect(new Date(draft.publish_at).getFullYear()).toBe(2031);
  await visit(ben, '/drafts');
  const card = ben.getByRole('list', { name: 'Posts' }).getByRole('listitem');
  await card.filter({ hasText: 'Appears on' }).getByText(/2031/).waitFor();
  await visit(ben, `/posts/${draft.id}/edit`);
  await ben.getByText('It appears by itself on').waitFor();
  await ben.getByRole('button', { name: 'Do not schedule it' }).click();
  await expect.poll(async () => (await draftsOf(ben))[0]?.publish_at).toBeUndefined();
  // A finished post is not continued.
  await visit(ben, '/new');
  await ben.getByRole('region', { name: 'Your drafts' }).waitFor();
  expect(await ben.getByText('did not finish').count()).toBe(0);
});

test('asks before a page with unsaved text is left, once for all its forms', async () => {
  await visit(page, '/settings/profile');
  const about = page.getByLabel('About you');
  await about.fill('Painter');
  const home = page.getByRole('link', { name: 'Studio North' });
  const dialog = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await home.click();
  await dialog.getByRole('button', { name: 'Stay here' }).click();
  await expect.poll(() => about.inputValue()).toBe('Painter');
  const asked: string[] = [];
  page.on('dialog', (prompt) => {
    asked.push(prompt.type());
    void prompt.dismiss();
  });
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => asked).toEqual(['beforeunload']);
  await home.click();
  await dialog.getByRole('button', { name: 'Leave', exact: true }).click();
  await page.waitForURL(`${studio.address}/`);

  // Nothing is asked without changes, or when signing out.
  await visit(page, '/settings/profile');
  await about.fill('Sculptor');
  await signOut(page);
  expect(await dialog.count()).toBe(0);
});
