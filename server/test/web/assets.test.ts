import type { ShownAsset } from '@vitrine/contract/assets';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg, truncatedJpeg } from '../support/pictures.ts';
import { call, callFrom, settled, upload } from './call.ts';
import { isFocused, overhang } from './hands.ts';
import { openStudio, password, type Studio } from './studio.ts';

let studio: Studio;
let mara: Page;
let ana: Page;
let otto: Page;
let pier: ShownAsset;
let hidden: ShownAsset;
let rated: ShownAsset;

/** Returns the asset as the service shows it to the caller of this page. */
async function read(page: Page, id: string): Promise<Record<string, unknown>> {
  return call(page, 'GET', `/assets/${id}`);
}

function tile(page: Page, name: string | RegExp) {
  return page.getByRole('list', { name: 'Assets' }).getByRole('link', { name });
}

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  for (const username of ['ana', 'otto'])
    await call(mara, 'POST', '/admin/users', { username, password, role: 'member' });
  await call(mara, 'PUT', '/admin/system/mature-content', { allowed: true });
  ana = await studio.enter('ana');
  otto = await studio.enter('otto');
  pier = await upload(ana, await jpeg(900, 600), { title: 'Pier' });
  hidden = await upload(ana, await jpeg(600, 600, { seed: 2 }), {
    title: 'Kept back',
    sensitivity: 'restricted',
  });
  rated = await upload(ana, await jpeg(600, 900, { seed: 3 }), { title: 'Rated', mature: 'true' });
  for (const { id } of [pier, hidden, rated]) expect(await settled(ana, id)).toBe('ready');
});

afterAll(() => studio.close());

test('lists the user’s own assets by filter and page, and everyone’s with placeholders and blurs', async () => {
  const again = { file_hash: pier.file_hash, sensitivity: 'public' };
  for (let at = 1; at <= 55; at += 1) {
    const body = {
      ...again,
      title: `Copy ${at}`,
      ...(at <= 2 ? { tags: ['dusk', 'sea'], status: 'draft' } : {}),
    };
    expect((await callFrom(ana, 'POST', '/assets', body)).status).toBe(201);
  }
  await ana.goto('/assets');
  const tiles = ana.getByRole('list', { name: 'Assets' }).getByRole('link');
  await tile(ana, 'Copy 55').waitFor();
  await expect.poll(() => tiles.count()).toBe(50);
  await ana.mouse.move(640, 500);
  await ana.mouse.wheel(0, 20_000);
  await tile(ana, 'Pier').waitFor();
  await expect.poll(() => tiles.count()).toBe(58);

  await ana.getByLabel('Status').selectOption('Draft');
  await ana.waitForURL(/status=draft/);
  await expect.poll(() => tiles.count()).toBe(2);
  await ana.getByLabel('Tag', { exact: true }).fill('#dusk');
  await ana.keyboard.press('Enter');
  await ana.waitForURL(/status=draft&tag=dusk/);
  await tile(ana, 'Copy 2, Draft').waitFor();
  await ana.getByLabel('Tag', { exact: true }).fill('noon');
  await ana.keyboard.press('Enter');
  await ana.getByRole('heading', { name: 'No matches' }).waitFor();
  await ana.getByRole('link', { name: 'Remove the tag noon' }).click();
  await tile(ana, 'Copy 2, Draft').waitFor();

  // Withheld and mature files of others are frames and blurs, and a filter finds neither drafts nor withheld files.
  await otto.goto('/assets');
  await otto.getByRole('heading', { name: 'No uploads yet' }).waitFor();
  await otto.getByRole('link', { name: 'Everyone’s' }).click();
  await tile(otto, 'Copy 55').waitFor();
  await otto.mouse.move(640, 500);
  await otto.mouse.wheel(0, 20_000);
  await tile(otto, 'Not shared with you, belongs to ana').waitFor();
  await expect.poll(() => tile(otto, 'Kept back').count()).toBe(0);
  await expect.poll(() => tile(otto, 'Rated').getByText('Mature').count()).toBe(1);
  await expect.poll(() => tile(otto, 'Rated').locator('img').count()).toBe(0);
  await otto.getByLabel('Type').selectOption('Image');
  await otto.waitForURL(/type=1/);
  await otto.getByText('Filters only find what is shared with you.').waitFor();
  await otto.mouse.wheel(0, 20_000);
  await tile(otto, 'Pier').waitFor();
  await expect.poll(() => tile(otto, /Not shared/).count()).toBe(0);
  await expect.poll(() => tile(otto, /Draft/).count()).toBe(0);

  await tile(otto, 'Rated').click();
  await otto.getByText('you have not chosen to see mature content').waitFor();
  await expect.poll(() => otto.getByRole('link', { name: 'Download' }).count()).toBe(0);
  await expect.poll(() => otto.getByRole('button', { name: 'Edit' }).count()).toBe(0);
});

test('the owner edits an asset and resolves a concurrent change', async () => {
  await ana.goto(`/assets/${pier.id}`);
  const edit = ana.getByRole('button', { name: 'Edit' });
  const title = ana.getByLabel('Title');
  await edit.click();
  await expect.poll(() => isFocused(title)).toBe(true);
  await ana.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => isFocused(edit)).toBe(true);

  await edit.click();
  await title.fill('Harbour');
  // The last tag is not confirmed with Enter; saving includes it all the same.
  await ana.getByLabel('Tags', { exact: true }).fill('quay, fog');
  await ana.getByLabel('How AI took part').selectOption('AI assisted');
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await ana.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  await expect
    .poll(() => read(ana, pier.id))
    .toMatchObject({
      title: 'Harbour',
      tags: ['quay', 'fog'],
      ai_provenance: 'assisted',
    });
  await expect.poll(() => ana.getByRole('list', { name: 'Tags' }).innerText()).toMatch(/quay\s*by hand/);

  await edit.click();
  await title.fill('Harbour at dusk');
  await ana.getByLabel('How AI took part').selectOption('Not declared');
  await ana.getByRole('radio', { name: /Only you/ }).check();
  const meanwhile = { title: 'Port', description: 'From the mole.' };
  expect((await callFrom(mara, 'PATCH', `/assets/${pier.id}`, meanwhile)).status).toBe(200);
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  const warning = ana.getByRole('alert').filter({ hasText: 'It has changed.' });
  await warning.getByText('Another user changed title and description').waitFor();
  await expect.poll(() => read(ana, pier.id)).toMatchObject({ title: 'Port', sensitivity: 'public' });
  await warning.getByRole('button', { name: 'Start from the newer version' }).click();
  await expect.poll(() => title.inputValue()).toBe('Port');

  await title.fill('Harbour at dusk');
  await ana.getByLabel('How AI took part').selectOption('Not declared');
  await ana.getByRole('radio', { name: /Only you/ }).check();
  const again = { tags: ['mole'] };
  expect((await callFrom(mara, 'PATCH', `/assets/${pier.id}`, again)).status).toBe(200);
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await warning.getByRole('button', { name: 'Save my changes on top' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1 }).waitFor();
  await expect
    .poll(() => read(ana, pier.id))
    .toMatchObject({
      title: 'Harbour at dusk',
      description: 'From the mole.',
      tags: ['mole'],
      ai_provenance: null,
      sensitivity: 'restricted',
    });
  await ana.getByText('You, and people you share the file with. Others see an empty frame').waitFor();
  const open4all = { sensitivity: 'public' };
  expect((await callFrom(ana, 'PATCH', `/assets/${pier.id}`, open4all)).status).toBe(200);
});

test('shows where an asset appears: the owner sees how many posts are withheld, others see only readable posts', async () => {
  const members = [{ asset_id: pier.id }];
  const posts = [
    { members, title: 'For all', visibility: 'org-only' },
    { members, title: 'Between us', visibility: 'private' },
    { members, title: 'Not yet', visibility: 'public', draft: true },
  ];
  for (const body of posts) expect((await callFrom(otto, 'POST', '/posts', body)).status).toBe(201);
  await ana.goto(`/assets/${pier.id}`);
  const seen = (page: Page) => page.getByRole('region', { name: 'Where this appears' });
  await seen(ana).getByRole('link', { name: 'For all' }).waitFor();
  await seen(ana).getByText('And 2 more posts you cannot see.').waitFor();
  await expect.poll(() => seen(ana).getByRole('link').count()).toBe(1);

  await otto.goto(`/assets/${pier.id}`);
  await seen(otto).getByRole('link', { name: 'Between us' }).waitFor();
  await expect.poll(() => seen(otto).getByText('cannot see').count()).toBe(0);
  await seen(otto).getByRole('link', { name: 'For all' }).click();
  await otto.getByRole('heading', { name: 'For all' }).waitFor();
  // Returns from the post to the asset.
  await otto.getByRole('link', { name: 'More about it' }).click();
  await otto.waitForURL(`${studio.address}/assets/${pier.id}`);
});

test('undoes a deletion, restores from the trash, and requests a restore of what someone else deleted', async () => {
  await ana.goto(`/assets/${pier.id}`);
  const remove = async (page: Page, reason: string) => {
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByLabel('Reason (optional)').fill(reason);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: /is in the trash/ }).waitFor();
  };
  await remove(ana, 'By mistake');
  await expect.poll(async () => (await callFrom(ana, 'GET', `/assets/${pier.id}`)).status).toBe(404);
  await ana.getByRole('button', { name: 'Undo' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1, exact: true }).waitFor();
  await expect.poll(async () => (await callFrom(ana, 'GET', `/assets/${pier.id}`)).status).toBe(200);

  await remove(ana, 'Twice the same');
  await ana.getByRole('link', { name: 'Trash' }).click();
  const row = (page: Page) =>
    page
      .getByRole('list', { name: 'Deleted items' })
      .getByRole('listitem')
      .filter({ hasText: 'Harbour at dusk' });
  await row(ana).getByText('by you').waitFor();
  await expect.poll(() => row(ana).innerText()).toMatch(/Asset, deleted .*“Twice the same”/s);
  await row(ana)
    .getByRole('button', { name: /^Restore/ })
    .click();
  await row(ana).getByText('Restored.').waitFor();
  await row(ana).getByRole('link', { name: 'Open it' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1 }).waitFor();

  await mara.goto(`/assets/${pier.id}`);
  await remove(mara, 'The rights are not ours');
  await ana.goto('/trash');
  await row(ana).getByText('by mara').waitFor();
  await expect.poll(() => row(ana).innerText()).toContain('“The rights are not ours”');
  await expect
    .poll(() =>
      row(ana)
        .getByRole('button', { name: /^Restore/ })
        .count(),
    )
    .toBe(0);
  await row(ana)
    .getByRole('button', { name: /^Ask to restore/ })
    .click();
  await ana.getByRole('dialog').getByLabel('Reason (optional)').fill('They are, see the contract');
  await ana.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await row(ana).getByText('Requested. The person who deleted it decides.').waitFor();
  const repeated = await callFrom(ana, 'POST', `/account/trash/asset/${pier.id}/request-restore`, {});
  expect(repeated.status).toBe(200);
  expect(JSON.parse(repeated.text)).toMatchObject({ reason: 'They are, see the contract', state: 'pending' });
  await ana.getByRole('link', { name: 'Deleted by you' }).click();
  await ana.getByText('You have not deleted anything.').waitFor();
  expect((await callFrom(mara, 'POST', `/admin/assets/${pier.id}/restore`)).status).toBe(204);
});

test('shows a withheld asset as a placeholder with its owner’s name and a request form', async () => {
  await otto.goto(`/assets/${hidden.id}`);
  await otto.getByRole('heading', { name: 'Not shared with you' }).waitFor();
  await otto.getByText('It belongs to ana.').waitFor();
  await expect.poll(() => otto.getByRole('main').innerText()).not.toContain('Kept back');
  await otto.getByRole('button', { name: 'Request access' }).click();
  const dialog = otto.getByRole('dialog');
  await dialog.getByLabel('Reason (optional)').fill('For the yearbook');
  const words = await dialog.innerText();
  await dialog.getByRole('button', { name: 'Send request' }).click();
  await otto.getByText('Requested. The owner decides.').waitFor();
  await dialog.waitFor({ state: 'detached' });
  await expect
    .poll(async () => `${words} ${await otto.getByRole('main').innerText()}`)
    .not.toMatch(/unlock|reveal|once|grant|approv|will see/i);
  const repeated = await callFrom(otto, 'POST', `/assets/${hidden.id}/request-access`, {});
  expect(repeated.status).toBe(200);
  expect(JSON.parse(repeated.text)).toMatchObject({ reason: 'For the yearbook', state: 'pending' });

  await otto.goto('/assets/00000000-0000-4000-8000-000000000000');
  await otto.getByRole('heading', { name: 'Asset not found' }).waitFor();
});

test('the owner retries a failed rendering', async () => {
  const broken = await upload(ana, await truncatedJpeg(), { title: 'Half' });
  expect(await settled(ana, broken.id)).toBe('failed');
  await ana.goto(`/assets/${broken.id}`);
  const again = ana.getByRole('button', { name: 'Try again' });
  const answered = ana.waitForResponse(/\/reprocess$/);
  await again.click();
  expect(await (await answered).json()).toMatchObject({ processing_status: 'pending' });
  // The file is still broken; the page notices, and the button is back.
  await expect.poll(() => again.isEnabled(), { timeout: 30_000 }).toBe(true);
  expect(await settled(ana, broken.id)).toBe('failed');
});

test('administrators change the settings for mature content and trash retention', async () => {
  await mara.goto('/admin/site');
  const mature = mara.getByRole('switch', { name: 'Mature content' });
  await expect.poll(() => mature.getAttribute('aria-checked')).toBe('true');
  await mature.click();
  const allowed = async () => JSON.parse((await callFrom(mara, 'GET', '/admin/system/mature-content')).text);
  await expect.poll(allowed).toEqual({ allowed: false });
  await otto.goto(`/assets/${rated.id}`);
  await otto.getByText('this library does not show mature content').waitFor();

  await mara.getByText('For 30 days.').waitFor();
  await mara.getByRole('button', { name: 'Change how long deleted items are kept' }).click();
  await mara.getByRole('textbox', { name: 'Days' }).fill('7');
  await mara.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Keep 7 days' }).click();
  await mara.getByText('For 7 days.').waitFor();
  const kept = await callFrom(mara, 'GET', '/admin/system/trash');
  expect(JSON.parse(kept.text)).toEqual({ retention_days: 7 });

  await otto.goto('/settings/library');
  await otto.getByText('You do not have access to this page').waitFor();
  await expect.poll(() => otto.getByRole('switch').count()).toBe(0);
});

test('no page overflows a phone screen or throws', async () => {
  await ana.setViewportSize({ width: 375, height: 700 });
  for (const path of [
    '/assets',
    '/assets?of=everyone&type=1',
    `/assets/${pier.id}`,
    '/trash',
    '/trash?of=by-me',
  ]) {
    await ana.goto(path);
    await ana.getByRole('heading', { level: 1 }).waitFor();
    await ana.waitForLoadState('networkidle');
    expect(await overhang(ana), path).toBe(0);
  }
  expect(studio.faults).toEqual([]);
});
