import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import { plainText, png, sha256 } from '../support/pictures.ts';
import { call, fileOf, publish, settled, upload, uploadReady } from './call.ts';
import { naturalWidth, overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const wide = { viewport: { width: 1440, height: 900 } };
const ana = await studio.join('ana', 'Ana Sol', wide);
const otto = await studio.join('otto');

const picture = async (seed: number) => fileOf(`bay-${seed}.png`, await png(600, 400, seed), 'image/png');

const rows = (page: Page) => page.getByRole('region', { name: 'Versions' }).getByRole('listitem');

/** Uploads a file with a note in the dialog. */
async function replace(page: Page, file: ReturnType<typeof fileOf>, note: string): Promise<void> {
  await page.getByRole('button', { name: 'Upload a new version' }).click();
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await page.getByLabel('Note (optional)').fill(note);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
}

/** Nothing that is open reaches beyond the screen, neither at a desk nor on a phone. */
async function fits(page: Page): Promise<void> {
  const size = page.viewportSize();
  for (const { viewport } of [wide, phone]) {
    await page.setViewportSize(viewport);
    expect(await overhang(page)).toBe(0);
  }
  if (size !== null) await page.setViewportSize(size);
}

test('on a phone, a file gets a new version, which is compared, restored and deleted', async () => {
  const page = await studio.enter('ana', phone);
  const first = await png(600, 400, 50);
  const id = await uploadReady(ana, first, { title: 'Bay' });
  await page.goto(`/assets/${id}`);
  await expect.poll(() => rows(page).count()).toBe(1);
  await replace(page, await picture(51), 'Brighter sky.');
  await page.getByText('The new version is the current file now.').waitFor();
  await expect.poll(() => rows(page).count()).toBe(2);
  await rows(page).first().getByText('Brighter sky.').waitFor();
  await rows(page).first().getByText('Current').waitFor();
  await rows(page).first().getByText('PNG · 600 × 400').waitFor();

  await page.getByRole('button', { name: 'Compare version 1' }).click();
  const dialog = page.getByRole('dialog', { name: 'Compare versions' });
  await dialog.getByRole('img', { name: 'Version 1' }).waitFor();
  await dialog.getByText('Slider').click();
  const divider = dialog.getByRole('slider', { name: 'Divider between version 1 and version 2' });
  await divider.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => divider.inputValue()).toBe('0');
  await dialog.getByText('Difference', { exact: true }).click();
  await dialog.getByLabel('Amplify small differences').check();
  const drawn = (name: string) =>
    dialog
      .getByRole('img', { name })
      .evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth > 0);
  for (const name of ['Version 1', 'Version 2']) await expect.poll(() => drawn(name)).toBe(true);
  // Both are zoomed together.
  const widths = () =>
    dialog.getByRole('img').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
  await expect.poll(async () => new Set(await widths()).size).toBe(1);
  const [whole = 0] = await widths();
  const scales = async () => (await widths()).map((width) => Number((width / whole).toFixed(2)));
  await dialog.getByRole('button', { name: 'Zoom in' }).click();
  await expect.poll(scales).toEqual([1.5, 1.5]);
  // And moved together.
  const lefts = () =>
    dialog.getByRole('img').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  const [left = 0] = await lefts();
  await dialog.getByRole('group', { name: /^version 1 and version 2/ }).press('ArrowRight');
  await expect
    .poll(async () => (await lefts()).map((now) => left - now))
    .toEqual([expect.closeTo(whole / 10, 0), expect.closeTo(whole / 10, 0)]);
  await dialog.getByRole('button', { name: 'Show everything' }).click();
  await expect.poll(scales).toEqual([1, 1]);
  await fits(page);
  await dialog.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Version 1 is the current file again.').waitFor();
  await expect.poll(() => rows(page).count()).toBe(3);
  await rows(page).first().getByText('the file of version 1').waitFor();
  expect((await call(ana, 'GET', `/assets/${id}`)).file_hash).toBe(sha256(first));

  await page.getByRole('button', { name: 'Delete version 2' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Version 2 was deleted.').waitFor();
  await expect.poll(() => rows(page).count()).toBe(2);
  await page.close();
});

// ANNOTATION-4
test('at a desk, files of a post are compared with the comments on their versions', async () => {
  const bay = await uploadReady(ana, await png(600, 400, 70), { title: 'Bay' });
  const cliff = await uploadReady(ana, await png(300, 400, 71), { title: 'Cliff' });
  const post = await publish(ana, 'Coast', [cliff, bay]);
  const annotate = (body: string, anchor: object) =>
    call(ana, 'POST', `/posts/${post}/annotations`, { asset_id: bay, anchor, body });
  await annotate('Too dark', { kind: 'region', x: 0.1, y: 0.2, w: 0.3, h: 0.4 });
  const multipart = { file: await picture(72) };
  expect((await ana.request.post(`/api/v1/assets/${bay}/versions`, { multipart })).status()).toBe(201);
  expect(await settled(ana, bay)).toBe('ready');
  await annotate('Better', { kind: 'point', x: 0.5, y: 0.5 });

  await ana.goto(`/posts/${post}`);
  await ana.getByRole('button', { name: 'Full screen' }).click();
  const viewer = ana.getByRole('dialog').first();
  await viewer.getByRole('button', { name: 'Compare' }).click();
  const files = ana.getByRole('dialog', { name: 'Compare files' });
  for (const name of ['Cliff', 'Bay, version 2'])
    await expect.poll(() => naturalWidth(files.getByRole('img', { name }))).toBeGreaterThan(0);
  await files.getByRole('list', { name: 'Comments on Bay, version 2' }).getByText('Better').waitFor();
  await fits(ana);

  await files.getByLabel('Left', { exact: true }).selectOption({ label: '2. Bay' });
  await ana.getByLabel('Left, version').selectOption('1');
  const versions = ana.getByRole('dialog', { name: 'Compare versions' });
  await versions.getByRole('list', { name: 'Comments on version 1' }).getByText('Too dark').waitFor();
  await fits(ana);
  const marks = versions.locator('[data-mark]');
  await expect.poll(() => marks.allTextContents()).toEqual(['1', '2']);
  await versions.getByLabel('Also draw those of version 1 over version 2').check();
  await expect.poll(() => marks.allTextContents()).toEqual(['1', '2', '1']);
  await versions.getByText('Difference', { exact: true }).click();
  await expect.poll(() => marks.count()).toBe(3);
  await versions.getByLabel('Show comments').uncheck();
  await expect.poll(() => marks.count()).toBe(0);
  await versions.getByRole('button', { name: 'Close' }).click();
  await viewer.getByRole('button', { name: 'Compare' }).waitFor();
  expect(await overhang(ana)).toBe(0);
  await ana.keyboard.press('Escape');
});

test('two versions of a film play, pause and seek in step', async () => {
  const film = (hue: number) =>
    clip({
      format: 'webm',
      video: {
        source: `testsrc2=s=160x90:r=25,hue=h=${hue}`,
        encoder: 'libvpx',
        options: { deadline: 'realtime' },
      },
      seconds: 4,
    });
  const id = await uploadReady(ana, await film(0), { title: 'Waves' }, 'waves.webm');
  const multipart = { file: fileOf('waves-2.webm', await film(90), 'video/webm') };
  expect((await ana.request.post(`/api/v1/assets/${id}/versions`, { multipart })).status()).toBe(201);
  expect(await settled(ana, id)).toBe('ready');
  await ana.goto(`/assets/${id}`);
  await ana.getByRole('button', { name: 'Compare version 1' }).click();
  const dialog = ana.getByRole('dialog', { name: 'Compare versions' });
  const films = dialog.locator('video');
  const read = () =>
    films.evaluateAll((all) =>
      all.flatMap((one) =>
        one instanceof HTMLVideoElement ? [{ at: one.currentTime, paused: one.paused }] : [],
      ),
    );
  const position = dialog.getByRole('slider', { name: 'Position of both films' });
  await expect.poll(async () => Number(await position.getAttribute('max'))).toBeGreaterThan(3);
  await position.fill('1.5');
  await expect.poll(async () => (await read()).map(({ at }) => at)).toEqual([1.5, 1.5]);
  await dialog.getByLabel('Speed').selectOption('0.25');
  await dialog.getByRole('button', { name: 'Play both' }).click();
  await expect
    .poll(async () => (await read()).map(({ at, paused }) => at > 1.7 && !paused))
    .toEqual([true, true]);
  await dialog.getByRole('button', { name: 'Pause both' }).click();
  await expect
    .poll(async () => {
      const [first, second] = await read();
      return first?.paused === true && second?.paused === true && Math.abs(first.at - second.at) <= 0.04;
    })
    .toBe(true);
  // Another way of comparing keeps the position.
  await dialog.getByText('Difference', { exact: true }).click();
  await expect.poll(async () => (await read()).every(({ at }) => at > 1.7)).toBe(true);
});

test('a file of another kind is refused in words, and others see no versions', async () => {
  const asset = await upload(ana, await png(300, 400, 60), { title: 'Dune' });
  await visit(ana, `/assets/${asset.id}`);
  const text = fileOf('notes.txt', plainText(), 'text/plain');
  await replace(ana, text, '');
  await ana
    .getByRole('alert')
    .getByText(/another kind/)
    .waitFor();
  await ana.getByRole('button', { name: 'Cancel' }).click();
  expect(await rows(ana).count()).toBe(1);
  await otto.goto(`/assets/${asset.id}`);
  await otto.getByRole('heading', { name: 'Dune' }).waitFor();
  expect(await otto.getByRole('region', { name: 'Versions' }).count()).toBe(0);
});

test('an administrator chooses how many earlier versions are kept', async () => {
  const mara = await studio.enter('mara');
  await mara.goto('/admin/storage');
  await mara.getByText('Kept: All of them.').waitFor();
  await mara.getByRole('button', { name: 'Change how many earlier versions are kept' }).click();
  await mara.getByLabel('At most a number').check();
  await mara.getByLabel('Number of versions', { exact: true }).fill('1001');
  await mara.getByRole('button', { name: 'Save' }).click();
  await mara.getByText('Enter a number from 0 to 1,000.').waitFor();
  await mara.getByLabel('Number of versions', { exact: true }).fill('5');
  await mara.getByText('Older versions of every file are removed permanently').waitFor();
  await mara.getByRole('button', { name: 'Save' }).click();
  await mara.getByText('Kept: The last 5.').waitFor();
});
