import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, publish, upload } from './call.ts';
import { attributesOf, showMore, titlesShown, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const posts = new Map<string, string>();

async function post(title: string, tags: string[], size: [number, number]): Promise<void> {
  const asset = await upload(mara, await jpeg(...size), { title });
  posts.set(title, await publish(mara, title, [asset.id], { tags, visibility: 'public' }));
}

const studio = await openStudio();
const mara = await studio.enter('mara');
const visitor = await studio.openPage({ viewport: { width: 375, height: 900 } });
await post('Early pier', ['harbour', 'dawn'], [90, 60]);
await post('Late pier', ['harbour', 'dusk'], [60, 80]);
await post('Hill', ['dusk', 'Harbor'], [80, 80]);

const titles = (page: Page) => titlesShown(page, /pier|Hill/);
const dialog = () => mara.getByRole('dialog');

test('finds and follows tags, filters the feed by them, reorders and hides them', async () => {
  // From a post to its tag's page, and on to the directory.
  await mara.goto(`/posts/${posts.get('Early pier')}`);
  await mara.getByRole('list', { name: 'Tags' }).getByRole('link', { name: 'harbour' }).click();
  await mara.getByRole('heading', { name: 'harbour', level: 1 }).waitFor();
  await mara.getByText('2 posts').waitFor();
  await expect.poll(() => titles(mara)).toEqual(['Early pier', 'Late pier']);
  await mara.getByRole('button', { name: 'Follow', exact: true }).click();
  await mara.getByRole('button', { name: 'Unfollow' }).waitFor();
  await mara.getByRole('main').getByRole('link', { name: 'Tags', exact: true }).click();
  await mara.getByLabel('Search tags').fill('du');
  await mara.waitForURL(/\?q=du/);
  await expect.poll(() => mara.getByRole('list', { name: 'Tags' }).getByRole('listitem').count()).toBe(1);
  const follow = mara.getByRole('button', { name: 'Follow dusk' });
  await follow.click();
  await expect.poll(() => follow.getAttribute('aria-pressed')).toBe('true');

  // Chips filter the feed together, and their filters can be removed.
  await visit(mara, '/');
  const chips = mara.getByRole('navigation', { name: 'Tags' });
  await chips.getByRole('link', { name: 'dusk' }).click();
  await mara.waitForURL(/\?tag=dusk$/);
  await expect.poll(() => titles(mara)).toEqual(['Hill', 'Late pier']);
  await chips.getByRole('link', { name: 'harbour' }).click();
  await expect.poll(() => titles(mara)).toEqual(['Late pier']);
  await chips.getByRole('link', { name: 'dusk' }).click();
  await mara.waitForURL(/\?tag=harbour$/);
  await expect.poll(() => titles(mara)).toEqual(['Early pier', 'Late pier']);

  // Reordering and hiding chips does not unfollow them.
  await visit(mara, '/');
  const names = () => chips.getByRole('link').allInnerTexts();
  await expect.poll(names).toEqual(['dusk', 'harbour', 'All tags']);
  await mara.getByRole('button', { name: 'Arrange the chips' }).click();
  await dialog().getByRole('button', { name: 'Move harbour up' }).press('Enter');
  await expect.poll(names).toEqual(['harbour', 'dusk', 'All tags']);
  await dialog().getByRole('button', { name: 'Show dusk above the feed' }).click();
  await expect.poll(names).toEqual(['harbour', 'All tags']);
  await dialog().getByRole('button', { name: 'Done' }).click();
  expect(await call(mara, 'GET', '/auth/me/followed-tags')).toHaveLength(2);
});

test('saves, opens, renames, reorders and deletes a view', async () => {
  await visit(mara, '/?sort=oldest&tag=harbour');
  const menu = mara.getByRole('menu');
  const save = async (name: string) => {
    await mara.getByRole('button', { name: 'Views' }).click();
    await menu.getByRole('menuitem', { name: 'Save this view…' }).click();
    await dialog().getByLabel('Name').fill(name);
    await dialog().getByRole('button', { name: 'Save' }).click();
  };
  await save('Piers');
  await dialog().waitFor({ state: 'detached' });
  await visit(mara, '/?show=trending');
  await save('piers');
  await dialog().getByText('A view with that name already exists.').waitFor();
  await dialog().getByLabel('Name').fill('What trends');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await dialog().waitFor({ state: 'detached' });

  await mara.getByRole('button', { name: 'Views' }).click();
  await menu.getByRole('menuitem', { name: 'Piers' }).click();
  await mara.waitForURL(/\?sort=oldest&tag=harbour$/);
  await expect.poll(() => titles(mara)).toEqual(['Early pier', 'Late pier']);

  await mara.getByRole('button', { name: 'Views' }).click();
  await menu.getByRole('menuitem', { name: 'Arrange views…' }).click();
  await dialog().getByRole('button', { name: 'Move What trends up' }).click();
  await dialog().getByRole('button', { name: 'Rename Piers' }).click();
  await dialog().getByLabel('New name').fill('The piers');
  await dialog().getByRole('button', { name: 'Rename', exact: true }).click();
  await dialog().getByText('The piers').waitFor();
  const views = async () =>
    (await call(mara, 'GET', '/account/views')).map(({ name }: { name: string }) => name);
  await expect.poll(views).toEqual(['What trends', 'The piers']);
  await dialog().getByRole('button', { name: 'Delete What trends' }).click();
  await expect.poll(views).toEqual(['The piers']);
  await dialog().getByRole('button', { name: 'Done' }).click();
});

test('features a post, reorders the featured list, and hides the tools from others', async () => {
  for (const title of ['Hill', 'Early pier']) {
    await visit(mara, `/posts/${posts.get(title)}`);
    // The actions of the post before may still be shown.
    await mara.getByRole('heading', { name: title, level: 1 }).waitFor();
    await showMore(mara);
    await mara.getByRole('button', { name: 'Feature', exact: true }).click();
    await mara.getByRole('button', { name: 'Featured', exact: true }).waitFor();
  }
  await visit(mara, '/');
  const order = (page: Page) =>
    attributesOf(page.getByRole('list', { name: 'Featured' }).locator('[data-post]'), 'data-post');
  const [hill, early] = [posts.get('Hill'), posts.get('Early pier')];
  await expect.poll(() => order(mara)).toEqual([hill, early]);
  await mara.getByRole('button', { name: 'Arrange', exact: true }).click();
  await dialog().getByRole('button', { name: 'Move Early pier up' }).click();
  await expect.poll(() => order(mara)).toEqual([early, hill]);
  await dialog().getByRole('button', { name: 'Done' }).click();
  await visit(mara, `/posts/${hill}`);
  await showMore(mara);
  await mara.getByRole('button', { name: 'Featured', exact: true }).click();
  await mara.getByRole('button', { name: 'Feature', exact: true }).waitFor();

  await call(mara, 'PUT', '/system/public-mode', { enabled: true });
  await visitor.goto('/');
  await expect.poll(() => order(visitor)).toEqual([early]);
  expect(await visitor.getByRole('button', { name: /Arrange|Views/ }).count()).toBe(0);
  // A filtered feed shows no featured posts.
  await visit(visitor, '/?tag=harbour');
  await expect.poll(() => titles(visitor)).toEqual(['Early pier', 'Late pier']);
  await expect.poll(() => order(visitor)).toEqual([]);
});

test('an operator renames and merges tags after a preview of the effect', async () => {
  await visit(mara, '/tags/Harbor');
  await mara.getByRole('button', { name: 'Edit' }).click();
  await dialog().getByLabel('New name').fill('harbour');
  await dialog().getByRole('button', { name: 'See what changes' }).click();
  const preview = (text: RegExp) => dialog().getByText(text).waitFor();
  await preview(/“harbour” already exists.*This changes 1 post\./);
  expect((await call(mara, 'GET', '/tags/Harbor')).post_count).toBe(1);
  await dialog().getByLabel('Reason').fill('British spelling');
  await dialog().getByRole('button', { name: 'Merge', exact: true }).click();
  await mara.waitForURL(`${studio.address}/tags/harbour`);
  await mara.getByText('3 posts').waitFor();
  await dialog().waitFor({ state: 'detached' });

  await mara.getByRole('button', { name: 'Edit' }).click();
  await dialog().getByLabel('New name').fill('Häfen / ports');
  await dialog().getByRole('button', { name: 'See what changes' }).click();
  await preview(/free.*3 posts, 1 follower, 1 arrangement of chips and 1 saved view/);
  await dialog().getByRole('button', { name: 'Rename', exact: true }).click();
  await mara.getByRole('heading', { name: 'Häfen / ports', level: 1 }).waitFor();
  await mara.getByText('3 posts').waitFor();
  await expect.poll(() => titles(mara)).toEqual(['Early pier', 'Hill', 'Late pier']);
  await visit(mara, '/admin/audit');
  await mara.getByText(/merged the tag “Harbor” into “harbour”/).waitFor();
});

test('previews and saves the operator’s texts and shows them to visitors', async () => {
  await visit(mara, '/admin/texts');
  const preview = mara.getByRole('group', { name: 'Preview of the texts' });
  await mara.getByLabel('Sign-in, title').fill('Come in');
  await mara.getByLabel('Sign-in, help').fill('Ask Otto for an account.\n<b>Not bold</b>');
  await mara.getByLabel('Footer').fill('Open all year');
  await mara.getByLabel('Welcome, title').fill('Pictures of the north');
  await preview.getByText('Pictures of the north').waitFor();
  await preview.getByText('<b>Not bold</b>').waitFor();
  const imprint = mara.getByLabel('Imprint');
  await imprint.fill('https://');
  await mara.getByRole('button', { name: 'Save' }).click();
  const isValid = () => imprint.evaluate((field: HTMLInputElement) => field.validity.valid);
  await expect.poll(isValid).toBe(false);
  await imprint.fill('https://example.org/imprint');
  await mara.getByRole('button', { name: 'Save' }).click();
  await mara.getByText('Saved').waitFor();

  await visitor.goto('/sign-in');
  await visitor.getByRole('heading', { name: 'Come in' }).waitFor();
  await visitor.getByText('<b>Not bold</b>').waitFor();
  const footer = visitor.getByRole('contentinfo');
  await footer.getByText('Open all year').waitFor();
  const address = () => footer.getByRole('link', { name: 'Imprint' }).getAttribute('href');
  await expect.poll(address).toBe('https://example.org/imprint');

  await visit(visitor, '/');
  await visitor.getByRole('heading', { name: 'Pictures of the north' }).waitFor();

  // A cleared text reverts to the default.
  await mara.getByLabel('Sign-in, title').fill('');
  await mara.getByRole('button', { name: 'Save' }).click();
  const texts = async () => (await call(mara, 'GET', '/admin/system/texts')).texts;
  await expect.poll(texts).not.toHaveProperty('sign_in_title');
});
