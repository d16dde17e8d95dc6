import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, callFrom, publish, upload } from './call.ts';
import { drag, isFocused, phone, placeIn, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');
const ana = await studio.join('ana', 'Ana', { viewport: { width: 1440, height: 900 } });
const anasPhone = await studio.enter('ana', phone);
const pier = await upload(ana, await jpeg(300, 200), { title: 'File 1' });
for (let at = 2; at <= 9; at += 1)
  await call(ana, 'POST', '/assets', {
    file_hash: pier.file_hash,
    sensitivity: 'public',
    title: `File ${at}`,
  });

/** Adds copies of the first file with these titles at once, because each request would start a job. */
async function addCopies(titles: readonly string[], tag?: string): Promise<void> {
  const { db } = studio.library.deps;
  const copy = {
    file_hash: pier.file_hash ?? '',
    file_name: 'p.jpg',
    asset_type: pier.asset_type,
    owner_user_ref: pier.owner_user_ref,
    sensitivity: 'public',
    processing_status: 'ready',
  } as const;
  const made = await db
    .insertInto('assets')
    .values(titles.map((title) => ({ ...copy, title })))
    .returning('id')
    .execute();
  if (tag === undefined) return;
  const tags = made.map(({ id }) => ({ asset_id: id, value: tag, source: 'manual' as const }));
  await db.insertInto('asset_tags').values(tags).execute();
}

const list = (page: Page) => page.getByRole('list', { name: 'Assets' });
const tile = (page: Page, at: number) => list(page).getByRole('link', { name: new RegExp(`^File ${at}\\b`) });
const mark = (page: Page, at: number) =>
  page.getByRole('checkbox', { name: `Select File ${at}`, exact: true });
const bar = (page: Page) => page.getByRole('region', { name: 'Selection' });

/** Returns the numbers of the chosen files, in the order of the page. */
const chosen = (page: Page) =>
  page
    .getByRole('checkbox', { checked: true })
    .evaluateAll((marks) => marks.map((mark) => Number(mark.ariaLabel?.split(' ').at(-1))));

test('selects with the mouse, the keyboard and a rectangle, and says how many are selected', async () => {
  await ana.goto('/assets');
  await tile(ana, 9).hover();
  await mark(ana, 9).click();
  await bar(ana).getByText('1 file selected').waitFor();
  await tile(ana, 6).click({ modifiers: ['Shift'] });
  await expect.poll(() => chosen(ana)).toEqual([9, 8, 7, 6]);
  await tile(ana, 8).click({ modifiers: ['ControlOrMeta'] });
  await expect.poll(() => chosen(ana)).toEqual([9, 7, 6]);
  // While something is selected, a click selects.
  await tile(ana, 1).click();
  await expect.poll(() => chosen(ana)).toEqual([9, 7, 6, 1]);
  await ana.getByRole('status').getByText('4 files selected').waitFor({ state: 'attached' });
  await ana.keyboard.press('Escape');
  await expect.poll(() => chosen(ana)).toEqual([]);
  await expect.poll(() => bar(ana).count()).toBe(0);

  await tile(ana, 8).focus();
  await ana.keyboard.press('Space');
  await ana.keyboard.press('Shift+ArrowRight');
  await expect.poll(() => isFocused(tile(ana, 7))).toBe(true);
  await ana.keyboard.press('Shift+ArrowRight');
  await expect.poll(() => chosen(ana)).toEqual([8, 7, 6]);
  await expect.poll(() => isFocused(tile(ana, 6))).toBe(true);
  await ana.keyboard.press('Shift+ArrowLeft');
  await expect.poll(() => chosen(ana)).toEqual([8, 7]);
  await ana.keyboard.press('ControlOrMeta+A');
  await expect.poll(() => chosen(ana)).toHaveLength(9);
  await ana.keyboard.press('Escape');

  await drag(ana, await placeIn(tile(ana, 9), 0.2, 0.2), await placeIn(tile(ana, 7), 0.5, 0.5));
  await expect.poll(() => chosen(ana)).toEqual([9, 8, 7]);
  expect(ana.url()).toMatch(/\/assets$/);
  // The selection survives opening a file and going back.
  await ana.getByRole('link', { name: 'Trash' }).first().click();
  await ana.waitForURL(/trash/);
  await ana.goBack();
  await expect.poll(() => chosen(ana)).toEqual([9, 8, 7]);
});

test('shows what a change would do, does it with live progress, and undoes it', async () => {
  await call(ana, 'PATCH', `/assets/${pier.id}`, { tags: ['dusk'] });
  await tile(ana, 1).click({ modifiers: ['ControlOrMeta'] });
  await bar(ana).getByRole('button', { name: 'Add tags' }).click();
  const dialog = ana.getByRole('dialog', { name: 'Add tags' });
  await dialog.getByLabel('Tags', { exact: true }).fill('dusk,');
  const preview = dialog.getByRole('status', { name: 'What would change' });
  await preview.getByText('3 files will change.').waitFor();
  await preview.getByText('1 file stays as it is.').waitFor();
  await dialog.getByRole('button', { name: 'Change 3 files' }).click();
  const notices = ana.getByRole('region', { name: 'Changes' });
  await notices.getByText('Tags added').waitFor();
  await notices.getByText('3 files changed, 1 as before').waitFor();
  await expect.poll(() => bar(ana).count()).toBe(0);
  const isInList = () => list(ana).evaluate((element) => element.contains(document.activeElement));
  await expect.poll(isInList).toBe(true);
  const tagged = async () => (await call(ana, 'GET', '/assets?tag=dusk')).items.length;
  await expect.poll(tagged).toBe(4);
  await notices.getByRole('button', { name: 'Undo' }).click();
  await notices.getByText('Undone').waitFor();
  await expect.poll(tagged).toBe(1);

  await ana.getByRole('region', { name: 'Changes' }).getByRole('button', { name: 'Close' }).click();
  await ana.goto('/changes');
  const changes = ana.getByRole('list', { name: 'Changes' }).getByRole('listitem');
  await changes.filter({ hasText: 'Tags added' }).getByText('Undone later.').waitFor();
});

test('selects with a long press and changes on a phone', async () => {
  const page = anasPhone;
  await page.goto('/assets');
  await tile(page, 9).waitFor();
  const { x, y } = await placeIn(tile(page, 9));
  const session = await page.context().newCDPSession(page);
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  await bar(page).getByText('1 file selected').waitFor();
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await tile(page, 8).tap();
  await expect.poll(() => chosen(page)).toEqual([9, 8]);
  await bar(page).getByRole('button', { name: 'Change' }).tap();
  await page.getByRole('menuitem', { name: 'Delete' }).tap();
  const dialog = page.getByRole('dialog', { name: 'Delete' });
  await dialog.getByRole('button', { name: 'Delete 2 files' }).tap();
  await page.getByRole('region', { name: 'Changes' }).getByText('Deleted').waitFor();
  await tile(page, 9).waitFor({ state: 'detached' });
  const notices = page.getByRole('region', { name: 'Changes' });
  await notices.getByRole('button', { name: 'Undo' }).tap();
  await tile(page, 9).waitFor();
  // Notices that stay would cover the bar of later tests.
  await notices.getByText('Undone').waitFor();
  await notices.getByRole('button', { name: 'Close' }).tap();
  await notices.getByText('Undone').waitFor({ state: 'detached' });
});

test('selects posts in the feed, a collection and the search, and restores from the trash', async () => {
  const posts = [await publish(ana, 'Fog', [pier.id]), await publish(ana, 'Rain', [pier.id])];
  const { id: collection } = await call(ana, 'POST', '/collections', { name: 'Weather' });
  const dialog = ana.getByRole('dialog');
  const notices = ana.getByRole('region', { name: 'Changes' });
  const select = (name: string) => ana.getByRole('checkbox', { name: `Select ${name}`, exact: true });

  await ana.goto('/');
  await ana.getByRole('button', { name: 'Select', exact: true }).click();
  await select('Fog').click();
  await select('Rain').click();
  await bar(ana).getByRole('button', { name: 'Add to a collection' }).click();
  await dialog.getByRole('combobox', { name: 'Collection' }).selectOption('Weather');
  await dialog.getByRole('button', { name: 'Change 2 posts' }).click();
  await notices.getByText('Added to a collection').waitFor();

  await visit(ana, `/collections/${collection}`);
  await select('Fog').click();
  await bar(ana).getByRole('button', { name: 'Change', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Remove from a collection' }).click();
  await dialog.getByRole('button', { name: 'Change 1 post' }).click();
  await expect.poll(() => select('Fog').count()).toBe(0);
  await expect.poll(() => select('Rain').count()).toBe(1);

  // Also on pages of teams, and files that a search finds.
  const { id: team } = await call(mara, 'POST', '/teams', { name: 'Weather watch' });
  await call(mara, 'PATCH', `/posts/${posts[0]}`, { team_id: team });
  for (const [path, name, words] of [
    [`/teams/${team}`, 'Fog', '1 post selected'],
    ['/search?q=file&kind=asset', 'File 3', '1 file selected'],
  ] as const) {
    await visit(ana, path);
    await select(name).click();
    await bar(ana).getByText(words).waitFor();
    await ana.keyboard.press('Escape');
    await expect.poll(() => bar(ana).count()).toBe(0);
  }

  await visit(ana, '/search?q=rain&kind=post');
  await select('Rain').click();
  await bar(ana).getByRole('button', { name: 'Who may see them' }).click();
  await dialog.getByText('Only you', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Change 1 post' }).click();
  await expect.poll(async () => (await call(ana, 'GET', `/posts/${posts[1]}`)).visibility).toBe('private');

  for (const id of posts) await call(ana, 'DELETE', `/posts/${id}`);
  await visit(ana, '/trash');
  await ana.getByRole('button', { name: 'Select', exact: true }).click();
  // All are those that have been read.
  for (const name of ['Fog', 'Rain']) await select(name).waitFor();
  await ana.keyboard.press('ControlOrMeta+A');
  await bar(ana).getByRole('button', { name: 'Restore 2 posts' }).click();
  await dialog.getByRole('button', { name: 'Restore 2 posts' }).click();
  await notices.getByText('Restored').waitFor();
  await expect.poll(async () => (await callFrom(ana, 'GET', `/posts/${posts[0]}`)).status).toBe(200);
});

test('counts and sorts the assets, and remembers how they are shown', async () => {
  await visit(ana, '/assets');
  await ana.getByText('9 files', { exact: true }).waitFor();
  const titles = () =>
    list(ana)
      .getByRole('link')
      .evaluateAll((links) =>
        links.map((link) => (link instanceof HTMLElement ? link.innerText : '').split('\n')[0]),
      );
  await call(ana, 'POST', '/assets', { file_hash: pier.file_hash, sensitivity: 'public', title: 'File 10' });
  await ana.getByLabel('Order').selectOption('Title, A to Z');
  await ana.waitForURL(/sort=title/);
  await expect.poll(titles).toEqual(Array.from({ length: 10 }, (_, at) => `File ${at + 1}`));
  await ana.getByLabel('View').selectOption('List');
  await tile(ana, 10).waitFor();
  await ana.reload();
  await expect.poll(() => ana.getByLabel('View').inputValue()).toBe('list');
  await expect.poll(async () => (await tile(ana, 2).boundingBox())?.height ?? 1000).toBeLessThan(60);
  await ana.getByLabel('View').selectOption('Medium tiles');
});

test('changes a field, status, state, rating and declaration of many files, and makes a post of them', async () => {
  await call(mara, 'PUT', '/admin/system/mature-content', { allowed: true });
  const { id: client } = await call(mara, 'POST', '/fields', {
    code: 'client',
    label: 'Client',
    type: 'text',
  });
  const ids: string[] = [];
  for (const title of ['Many 1', 'Many 2']) {
    const body = { file_hash: pier.file_hash, sensitivity: 'public', title };
    ids.push((await call(ana, 'POST', '/assets', body)).id);
  }
  // A page that is loaded now knows the field.
  await ana.goto('/tags');
  const dialog = ana.getByRole('dialog');
  const notices = ana.getByRole('region', { name: 'Changes' });
  /** Closes every notice, also those of changes before this test. */
  const closeNotices = async () => {
    const close = notices.getByRole('button', { name: 'Close' });
    await close.evaluateAll((buttons: HTMLElement[]) => {
      for (const button of buttons) button.click();
    });
    await expect.poll(() => close.count()).toBe(0);
  };
  /** Chooses both files and an action; `fill` answers its form. */
  const change = async (action: string, fill: () => Promise<unknown>, verb = 'Change 2 files') => {
    await visit(ana, '/assets');
    for (const at of [1, 2]) await ana.getByRole('checkbox', { name: `Select Many ${at}` }).click();
    await bar(ana).getByRole('button', { name: 'Change', exact: true }).click();
    await ana.getByRole('menuitem', { name: action, exact: true }).click();
    await fill();
    await closeNotices();
    await dialog.getByRole('button', { name: verb }).click();
    await dialog.waitFor({ state: 'detached' });
    await notices.getByText('2 files changed').waitFor();
  };
  const radio = (name: string) => () => dialog.getByRole('radio', { name: new RegExp(`^${name}`) }).check();

  await change('Change a field', async () => {
    await dialog.getByLabel('Field', { exact: true }).selectOption('Client');
    await dialog.getByRole('textbox', { name: 'Client' }).fill('Harbour Ltd');
  });
  await change('Workflow state', () => dialog.getByLabel('Workflow state').selectOption({ index: 2 }));
  await change('How AI took part', radio('AI assisted'));
  const named = () => dialog.getByLabel('Title').fill('Of many');
  await change('Create a post', named, 'Create the post');
  await change('Mature', radio('Mature'));
  await change('Status', radio('Archived'));
  for (const id of ids) {
    const asset = await call(ana, 'GET', `/assets/${id}`);
    expect(asset).toMatchObject({ status: 'archived', mature: true, ai_provenance: 'assisted' });
    const { items } = await call(ana, 'GET', `/assets/${id}/fields`);
    const value = items.find((one: { field_id: string }) => one.field_id === client);
    expect(value).toMatchObject({ value_text: 'Harbour Ltd' });
  }
  const drafts = await call(ana, 'GET', '/posts?draft=true');
  expect(drafts.items.map((post: { title: string }) => post.title)).toContain('Of many');
});

test('selects files and posts of a collection, on a phone and at a desk, and offers what suits them', async () => {
  const ids: string[] = [];
  for (const title of ['Box 1', 'Box 2']) {
    const body = { file_hash: pier.file_hash, sensitivity: 'public', title };
    ids.push((await call(ana, 'POST', '/assets', body)).id);
  }
  const { id } = await call(ana, 'POST', '/collections', { name: 'Box' });
  for (const asset of ids) await call(ana, 'PUT', `/collections/${id}/assets/${asset}`);
  const post = await publish(ana, 'On the box', [pier.id]);
  await call(ana, 'PUT', `/collections/${id}/posts/${post}`);
  const select = (page: Page, name: string) =>
    page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
  const open = async (page: Page) => {
    await visit(page, `/collections/${id}`);
    await page.getByRole('link', { name: 'On the box, post' }).waitFor();
    await page.getByRole('button', { name: 'Select', exact: true }).click();
  };
  /** Downloads what is selected; returns what was asked for. */
  const download = async (page: Page, files: string) => {
    const request = page.waitForRequest(/\/api\/v1\/archives$/);
    await bar(page).getByRole('button', { name: 'Download', exact: true }).click();
    const asked = JSON.parse((await request).postData() ?? '{}');
    await bar(page).getByRole('status').getByText(`Downloading ${files}`).waitFor();
    return asked;
  };
  /** Returns what the menu offers. */
  const offers = async (page: Page) => {
    await bar(page).getByRole('button', { name: 'Change', exact: true }).click();
    // The code of the menu may still load.
    await page.getByRole('menuitem', { name: 'Recent changes' }).waitFor();
    const names = await page.getByRole('menuitem').allInnerTexts();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('menuitem').count()).toBe(0);
    return names.map((name) => name.trim());
  };

  await open(anasPhone);
  await select(anasPhone, 'Box 1').click();
  expect(await download(anasPhone, '1 file')).toEqual({ ids: ids.slice(0, 1) });
  expect(await offers(anasPhone)).toContain('Status');
  await select(anasPhone, 'Box 2').click();
  await select(anasPhone, 'On the box').click();
  await bar(anasPhone).getByText('3 items selected').waitFor();
  // With the files of the post.
  expect(await download(anasPhone, '3 files')).toEqual({ ids: [...ids, pier.id] });
  await bar(anasPhone).getByRole('button', { name: 'Change', exact: true }).click();
  await anasPhone.getByRole('menuitem', { name: 'Add tags' }).click();
  const dialog = anasPhone.getByRole('dialog', { name: 'Add tags' });
  await dialog.getByText('For 3 items.').waitFor();
  await dialog.getByLabel('Tags', { exact: true }).fill('boxed,');
  await dialog.getByRole('status').getByText('3 items will change.').waitFor();
  await dialog.getByRole('button', { name: 'Change 3 items' }).click();
  const notices = anasPhone.getByRole('region', { name: 'Changes' });
  await notices.getByText('2 files changed').waitFor();
  await notices.getByText('1 post changed').waitFor();
  expect((await call(ana, 'GET', `/posts/${post}`)).tags).toEqual(['boxed']);
  expect((await call(ana, 'GET', `/assets/${ids[1]}`)).tags).toEqual(['boxed']);

  // Posts alone are changed as anywhere else.
  await open(ana);
  await select(ana, 'On the box').click();
  await bar(ana).getByText('1 post selected').waitFor();
  expect(await offers(ana)).toContain('Who may see them');
  expect(await download(ana, '1 file')).toEqual({ post_id: post });
  await select(ana, 'Box 1').click();
  await bar(ana).getByText('2 items selected').waitFor();
  expect(await offers(ana)).toEqual([
    'Add tags',
    'Add to a collection',
    'Remove from a collection',
    'Remove tags',
    'Delete',
    'Recent changes',
  ]);
  await ana.keyboard.press('Escape');
  await expect.poll(() => ana.getByRole('checkbox', { checked: true }).count()).toBe(0);
});

/** Makes the first page of each list this short, and lets none read further. */
async function holdAfter(page: Page, entries: number): Promise<void> {
  await page.route(/\/api\/v1\/.*[?&]limit=50/, (route) =>
    route.continue({ url: route.request().url().replace('limit=50', `limit=${entries}`) }),
  );
  await page.route(/\/api\/v1\/.*[?&]cursor=/, () => new Promise(() => {}));
}

/** Selects what is loaded of a list, and then all of it. */
async function selectAll(page: Page, loaded: number): Promise<void> {
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await bar(page)
    .getByRole('button', { name: `Select the ${loaded} loaded` })
    .click();
  await bar(page)
    .getByRole('button', { name: /^Select all( \d+)? results$/ })
    .click();
}

test('changes all results of a list on a phone, and all of the trash at a desk', async () => {
  // The first page fills its rows: a short row would wait for the next page.
  const titles = Array.from({ length: 8 }, (_, at) => `Of the pile, ${at + 1}`);
  await addCopies(titles, 'pile');
  const live = async () => (await call(ana, 'GET', '/assets/count?tag=pile')).total;

  await holdAfter(anasPhone, 6);
  await visit(anasPhone, '/assets?tag=pile');
  await anasPhone.getByText('8 files', { exact: true }).waitFor();
  await selectAll(anasPhone, 6);
  await bar(anasPhone).getByText('All 8 results selected').waitFor();
  await bar(anasPhone).getByRole('button', { name: 'Change', exact: true }).click();
  await anasPhone.getByRole('menuitem', { name: 'Delete' }).click();
  const deletion = anasPhone.getByRole('dialog');
  await deletion.getByText('For all files of this list.').waitFor();
  await deletion.getByRole('button', { name: 'Delete 8 files' }).click();
  await anasPhone.getByRole('region', { name: 'Changes' }).getByText('8 files changed').waitFor();
  await expect.poll(live).toBe(0);
  await anasPhone.unrouteAll();

  // The trash has no query, so the page reads which files they are.
  await holdAfter(ana, 6);
  await visit(ana, '/trash');
  await ana.getByRole('list', { name: 'Deleted items' }).waitFor();
  await selectAll(ana, 6);
  await bar(ana).getByText('8 files selected').waitFor();
  await bar(ana).getByRole('button', { name: 'Restore 8 files' }).click();
  const restoring = ana.getByRole('dialog');
  await restoring.getByText('8 files will change.').waitFor();
  await restoring.getByRole('button', { name: 'Restore 8 files' }).click();
  await ana.getByRole('region', { name: 'Changes' }).getByText('8 files changed').waitFor();
  await expect.poll(live).toBe(8);
  await ana.unrouteAll();
});

// Files of a post are not items of the collection that contains the post.
test('selects all items of a collection, but not the files of its posts', async () => {
  const { id } = await call(ana, 'POST', '/collections', { name: 'Crate' });
  const body = { file_hash: pier.file_hash, sensitivity: 'public', title: 'In the crate' };
  const { id: file } = await call(ana, 'POST', '/assets', body);
  await call(ana, 'PUT', `/collections/${id}/assets/${file}`);
  await call(ana, 'PUT', `/collections/${id}/posts/${await publish(ana, 'On the crate', [pier.id])}`);
  // The first page of the list is short, which squares would withhold until the next one fills their row.
  const arrange = (layout: string) =>
    call(ana, 'PATCH', '/account/preferences', { default_views: { feed: '', layout, sort: '' } });
  await arrange('list');
  await holdAfter(ana, 1);
  await ana.goto(`/collections/${id}`);
  await ana.getByRole('checkbox', { name: 'Select In the crate' }).waitFor({ state: 'attached' });
  await selectAll(ana, 1);
  await bar(ana).getByText('2 items selected').waitFor();
  await bar(ana).getByRole('button', { name: 'Add tags' }).click();
  const dialog = ana.getByRole('dialog', { name: 'Add tags' });
  await dialog.getByLabel('Tags', { exact: true }).fill('crate,');
  await dialog.getByRole('status').getByText('2 items will change.').waitFor();
  await arrange('');
  await ana.unrouteAll();
  await ana.keyboard.press('Escape');
});

test('restores files and posts of the trash together', async () => {
  const { id } = await call(ana, 'POST', '/assets', {
    file_hash: pier.file_hash,
    sensitivity: 'public',
    title: 'Thrown away',
  });
  const post = await publish(ana, 'Thrown, too', [pier.id]);
  await call(ana, 'DELETE', `/assets/${id}`);
  await call(ana, 'DELETE', `/posts/${post}`);
  await visit(ana, '/trash');
  await ana.getByRole('button', { name: 'Select', exact: true }).click();
  for (const name of ['Thrown away', 'Thrown, too'])
    await ana.getByRole('checkbox', { name: `Select ${name}`, exact: true }).click();
  await bar(ana).getByRole('button', { name: 'Restore 2 items' }).click();
  await ana.getByRole('dialog').getByRole('button', { name: 'Restore 2 items' }).click();
  await expect.poll(async () => (await callFrom(ana, 'GET', `/posts/${post}`)).status).toBe(200);
  await expect.poll(async () => (await callFrom(ana, 'GET', `/assets/${id}`)).status).toBe(200);
});

test('renders only what is near the window, and returns to the place where it was left', async () => {
  const titles = Array.from({ length: 130 }, (_, at) => `File ${at + 1}`);
  await addCopies(titles, 'long');
  const page = anasPhone;
  await visit(page, '/assets?tag=long&sort=title');
  await tile(page, 1).waitFor();
  const scrolled = () => page.evaluate(() => scrollY);
  // A picture that leaves the window before it has arrived is not loaded further.
  const preview = /\/variants\//;
  const given = new Set<string>();
  page.on('requestfailed', (request) => preview.test(request.url()) && given.add(request.url()));
  await page.route(preview, () => new Promise(() => {}));
  await expect
    .poll(async () => {
      await page.evaluate(() => scrollTo({ top: document.body.scrollHeight }));
      return tile(page, 130).count();
    })
    .toBe(1);
  await expect.poll(() => list(page).getByRole('link').count()).toBeLessThan(60);
  await expect.poll(() => given.size).toBeGreaterThan(0);
  await page.unroute(preview);
  const place = await scrolled();
  await mark(page, 129).waitFor({ state: 'attached' });
  await tile(page, 129).tap();
  await page.getByRole('heading', { name: 'File 129', level: 1 }).waitFor();
  await page.goBack();
  await tile(page, 129).waitFor();
  await expect.poll(async () => Math.abs((await scrolled()) - place)).toBeLessThan(100);
});
