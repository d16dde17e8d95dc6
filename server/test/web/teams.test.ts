import { expect, test } from 'vitest';
import { grant } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { call, fileOf, publish, upload, uploadReady } from './call.ts';
import { drawn, naturalWidth, showMore, titlesShown, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const ids = new Map<string, string>();

async function post(title: string, team?: string): Promise<void> {
  const asset = await upload(mara, await jpeg(90, 60), { title });
  const team_id = ids.get(team ?? '');
  ids.set(title, await publish(mara, title, [asset.id], team_id === undefined ? {} : { team_id }));
}

const studio = await openStudio();
const mara = await studio.enter('mara');
const otto = await studio.join('otto', 'Otto Brandt');
for (const name of ['All of the studio', 'Harbour', 'Piers', 'Hills'])
  ids.set(name, (await call(mara, 'POST', '/teams', { name })).id);
await call(mara, 'PUT', `/teams/${ids.get('Piers')}/parents/${ids.get('Harbour')}`);
const { ref } = await call(otto, 'GET', '/auth/me');
await grant(studio.library, { ref }, ['teams.write', 'posts.admin'], ids.get('Harbour'));
await post('Quay', 'Piers');
await post('Valley', 'Hills');
await post('Nowhere');

test('creates, follows, joins, posts to, illustrates, moves and closes a team', async () => {
  const all = ids.get('All of the studio');
  const form = mara.getByRole('dialog');
  const confirmation = mara.getByRole('alertdialog');
  await mara.goto('/teams');
  await mara.getByRole('button', { name: 'New team' }).click();
  await form.getByLabel('Name', { exact: true }).fill('Ferries');
  await form.getByRole('button', { name: 'Create team' }).click();
  await mara.getByRole('heading', { name: 'Ferries', level: 1 }).waitFor();
  const ferries = new URL(mara.url()).pathname.split('/').at(-1) ?? '';

  // A taken slug shows the service's error; a change appears immediately.
  await mara.getByRole('button', { name: 'Edit', exact: true }).click();
  await form.getByLabel('Short name').fill('all-of-the-studio');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('That slug is taken.').waitFor();
  await form.getByLabel('Short name').fill('ferries-2');
  await form.getByLabel('Description').fill('Boats and piers');
  await form.getByRole('button', { name: 'Save' }).click();
  await mara.getByText('Boats and piers').waitFor();
  await mara.getByRole('button', { name: 'Follow', exact: true }).click();
  await mara.getByRole('button', { name: 'Unfollow' }).waitFor();
  expect(await call(mara, 'GET', '/auth/me/followed-teams')).toMatchObject([{ id: ferries }]);

  // Places it under another team; the reverse would be a cycle.
  await showMore(mara);
  await mara.getByRole('button', { name: 'Place under a team' }).click();
  await form.getByRole('radio', { name: 'All of the studio' }).check();
  await form.getByRole('button', { name: 'Place' }).click();
  const above = mara.getByRole('list', { name: 'Parent teams' });
  await above.getByRole('link', { name: 'All of the studio' }).click();
  await mara.waitForURL(`${studio.address}/teams/${all}`);
  await mara.getByRole('heading', { name: 'All of the studio', level: 1 }).waitFor();
  await showMore(mara);
  await mara.getByRole('button', { name: 'Place under a team' }).click();
  await form.getByRole('radio', { name: 'Ferries' }).check();
  await form.getByRole('button', { name: 'Place' }).click();
  await form.getByText('Teams would form a cycle.').waitFor();
  await mara.keyboard.press('Escape');

  // Adds a member by name; an unknown name is reported.
  await visit(mara, `/teams/${ferries}?show=members`);
  await mara.getByLabel('Add a member').fill('nobody');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  await mara.getByText('There is no account named “nobody”.').waitFor();
  await mara.getByLabel('Add a member').fill('bran');
  await mara.getByRole('option', { name: /Otto Brandt/ }).waitFor();
  await mara.getByLabel('Add a member').press('ArrowDown');
  await mara.getByLabel('Add a member').press('Enter');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  await mara.getByRole('list', { name: 'Members' }).getByRole('link', { name: 'Otto Brandt' }).waitFor();

  // Posts of the member for the team are in its channel, and a public asset of the team can be its picture.
  const asset_id = await uploadReady(otto, await jpeg(900, 600), { title: 'Pier', team_id: ferries });
  await publish(otto, 'Early at the pier', [asset_id], { team_id: ferries });
  await mara.reload();
  await mara.getByRole('navigation', { name: 'Of the team' }).getByRole('link', { name: 'Posts' }).click();
  await mara.getByRole('link', { name: /Early at the pier/ }).waitFor();
  await showMore(mara);
  await mara.getByRole('button', { name: 'Picture', exact: true }).click();
  await form.getByRole('button', { name: 'Pier' }).click();
  await form.waitFor({ state: 'hidden' });
  const hero = mara.locator(`#main img[src*="${asset_id}/variants/col"][alt=""]`).first();
  await expect.poll(() => naturalWidth(hero)).toBeGreaterThan(0);

  // The directory counts, shows and finds it.
  await mara.goto('/teams');
  const card = mara.getByRole('list', { name: 'Teams' }).getByRole('link', { name: /Ferries/ });
  await card.getByText('2 members · 1 asset').waitFor();
  await card.getByText('Following').waitFor();
  await mara.getByLabel('Search teams').fill('all of');
  await mara.waitForURL(/\?q=all/);
  await card.waitFor({ state: 'detached' });

  // A member without the right sees no controls except for leaving.
  await otto.goto(`/teams/${ferries}?show=members`);
  await otto.getByRole('button', { name: 'Leave' }).waitFor();
  const postToTeam = otto.getByRole('link', { name: 'Post to this team' });
  await postToTeam.waitFor();
  await expect.poll(() => otto.getByRole('button', { name: /Edit|More|Add/ }).count()).toBe(0);
  await otto.getByRole('button', { name: 'Leave' }).click();
  await otto.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
  await otto.getByRole('link', { name: 'Otto Brandt' }).waitFor({ state: 'detached' });
  await postToTeam.waitFor({ state: 'detached' });

  // Removes it from under the other team, and closes it.
  await visit(mara, `/teams/${ferries}`);
  await mara.getByRole('button', { name: 'Remove from All of the studio' }).click();
  await confirmation.getByRole('button', { name: 'Remove' }).click();
  await above.waitFor({ state: 'detached' });
  await showMore(mara);
  await mara.getByRole('button', { name: 'Close team' }).click();
  await confirmation.getByRole('button', { name: 'Close team' }).click();
  await mara.waitForURL(`${studio.address}/teams`);
  await mara.getByRole('link', { name: /All of the studio/ }).waitFor();
  await expect.poll(() => mara.getByRole('link', { name: /Ferries/ }).count()).toBe(0);
});

/** Opens a page and waits until it knows what the account may do in which team. */
async function openKnowing(path: string): Promise<void> {
  const known = otto.waitForResponse((response) => response.url().endsWith('/auth/me/capabilities'));
  await otto.goto(path);
  await known;
  await drawn(otto);
}

const titles = () => titlesShown(otto, /Quay|Valley|Nowhere/);

test('offers what a team scope permits in the team and its subteams only', async () => {
  // A team below the one of the grant: texts, picture and members may change, but not its place, and it cannot be closed.
  await otto.goto(`/teams/${ids.get('Piers')}?show=members`);
  await otto.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await otto.getByRole('button', { name: 'Add', exact: true }).waitFor();
  expect(await otto.getByRole('button', { name: /Place|Close|Remove from/ }).count()).toBe(0);
  await otto.getByRole('button', { name: 'Edit', exact: true }).click();
  await otto.getByRole('dialog').getByLabel('Description').fill('Of wood and of stone');
  await otto.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await otto.getByText('Of wood and of stone').waitFor();

  // Those of another team may only be viewed; its posts may be edited and removed from it.
  await visit(otto, `/teams/${ids.get('Hills')}`);
  await otto.getByRole('button', { name: 'Follow', exact: true }).waitFor();
  expect(await otto.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
  await visit(otto, `/posts/${ids.get('Nowhere')}`);
  await otto.getByRole('heading', { name: 'Nowhere', level: 1 }).waitFor();
  expect(await otto.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
  await visit(otto, `/posts/${ids.get('Quay')}`);
  await otto.getByRole('link', { name: 'Edit', exact: true }).click();
  await otto.getByLabel('Team').selectOption({ label: 'No team' });
  await otto.getByRole('button', { name: 'Save', exact: true }).click();
  const teamOfQuay = async () => (await call(mara, 'GET', `/posts/${ids.get('Quay')}`)).team_id;
  await expect.poll(teamOfQuay).toBeUndefined();
  await call(mara, 'PATCH', `/posts/${ids.get('Quay')}`, { team_id: ids.get('Piers') });
});

test('a post for a managed team assigns the file to it and offers its writable fields', async () => {
  const berth = { code: 'berth', label: 'Berth', type: 'text', write_capability: 'posts.admin' };
  const field = await call(mara, 'POST', '/fields', berth);
  await call(mara, 'PATCH', `/fields/${field.id}`, { show_on_upload: true });
  const team = otto.getByLabel('Team', { exact: true });

  await otto.goto(`/teams/${ids.get('Piers')}`);
  await otto.getByRole('link', { name: 'Post to this team' }).click();
  await expect.poll(() => team.inputValue()).toBe(ids.get('Piers'));
  const offered = async () => (await team.getByRole('option').allInnerTexts()).map((text) => text.trim());
  await expect.poll(offered).toEqual(['No team', 'Harbour', 'Piers']);

  await otto.getByLabel('Choose files').setInputFiles(fileOf('pier.jpg', await jpeg(60, 40, { seed: 3 })));
  await otto.getByLabel('Berth').fill('Seven');
  await otto.getByLabel('Title', { exact: true }).fill('Pier seven');
  await otto.getByRole('button', { name: 'Publish' }).click();
  await otto.getByRole('heading', { name: 'Pier seven', level: 1 }).waitFor();
  await otto.getByText('Posted to Piers').waitFor();
  const id = new URL(otto.url()).pathname.split('/').at(-1) ?? '';
  const post = await call(mara, 'GET', `/posts/${id}`);
  const { asset } = post.members[0];
  expect([post.team_id, asset.team_id]).toEqual([ids.get('Piers'), ids.get('Piers')]);
  const { items } = await call(mara, 'GET', `/assets/${asset.id}/fields`);
  expect(items).toContainEqual(expect.objectContaining({ field_code: 'berth', value_text: 'Seven' }));
  await call(mara, 'DELETE', `/posts/${id}`);
});

test('files added to a team’s post are assigned to the team if the user may assign to it', async () => {
  const { ref } = await call(otto, 'GET', '/auth/me');
  await grant(studio.library, { ref }, 'posts.admin', ids.get('Hills'));
  const team = otto.getByLabel('Team', { exact: true });
  const hint = otto.getByText('Files uploaded here become the team’s too.');
  const tiles = otto.locator('[data-member]');
  let seed = 20;

  /** Uploads one more file in the editor; returns its team. */
  async function addOne(): Promise<string | undefined> {
    const before = await tiles.count();
    seed += 1;
    await otto.getByLabel('Choose files').setInputFiles(fileOf('more.jpg', await jpeg(60, 40, { seed })));
    await expect.poll(() => tiles.count()).toBe(before + 1);
    const id = await tiles.last().getAttribute('data-member');
    return (await call(mara, 'GET', `/assets/${id}`)).team_id ?? undefined;
  }

  await otto.goto(`/posts/${ids.get('Quay')}/edit`);
  await hint.waitFor();
  expect(await addOne()).toBe(ids.get('Piers'));
  await team.selectOption({ label: 'No team' });
  await hint.waitFor({ state: 'detached' });
  expect(await addOne()).toBeUndefined();
  await team.selectOption({ label: 'Piers' });
  await otto.getByRole('button', { name: 'Save', exact: true }).click();
  await otto.getByText('Saved.', { exact: true }).waitFor();

  // They may edit its posts, but not the team: the file is uploaded without a team.
  await openKnowing(`/posts/${ids.get('Valley')}/edit`);
  await expect.poll(() => team.inputValue()).toBe(ids.get('Hills'));
  expect(await hint.count()).toBe(0);
  expect(await addOne()).toBeUndefined();
});

test('shows followed teams above the feed, filters by them, and has a feed of all', async () => {
  for (const name of ['Hills', 'Piers']) await call(otto, 'PUT', `/teams/${ids.get(name)}/follow`);
  await otto.goto('/');
  const chips = otto.getByRole('navigation', { name: 'Teams you follow' });
  const names = async () => (await chips.getByRole('link').allInnerTexts()).map((text) => text.trim());
  await expect.poll(names).toEqual(['Hills', 'Piers']);
  await chips.getByRole('link', { name: 'Piers' }).click();
  await otto.waitForURL(/\?team=/);
  await expect.poll(titles).toEqual(['Quay']);
  await chips.getByRole('link', { name: 'Piers' }).click();
  await otto.waitForURL('/');
  await expect.poll(titles).toEqual(['Nowhere', 'Quay', 'Valley']);
  await otto.getByRole('navigation', { name: 'Feed' }).getByRole('link', { name: 'Teams' }).click();
  await otto.waitForURL(/\?show=team$/);
  await expect.poll(titles).toEqual(['Quay', 'Valley']);
});
