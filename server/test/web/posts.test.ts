import type { CommentRoot } from '@vitrine/contract/comments';
import type { Post, PostCreate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, callFrom, fileOf, publish, uploadReady } from './call.ts';
import { attributesOf, drag, isFocused, placeIn, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const assets: string[] = [];

const makePost = (title: string, given: Partial<PostCreate> = {}) => publish(ana, title, assets, given);

async function readPost(page: Page, id: string): Promise<Post> {
  return call(page, 'GET', `/posts/${id}`);
}

async function thread(id: string): Promise<CommentRoot[]> {
  return (await call(mara, 'GET', `/posts/${id}/comments`)).items;
}

/** Returns the ids of the files in the editor in the order shown. */
const shownMembers = () => attributesOf(ana.locator('[data-member]'), 'data-member');

async function openEditor(id: string): Promise<void> {
  await visit(ana, `/posts/${id}/edit`);
  await ana.getByRole('heading', { name: /^Edit/ }).waitFor();
}

async function save(): Promise<void> {
  const answer = ana.waitForResponse((response) => response.request().method() === 'PATCH');
  await ana.getByRole('button', { name: /^Save/ }).click();
  expect((await answer).status()).toBe(200);
  await ana.getByText('Saved.', { exact: true }).waitFor();
}

const studio = await openStudio();
const tall = { viewport: { width: 1280, height: 1000 } };
const mara = await studio.enter('mara');
/** Ana writes the posts, Ben reads them, Mara administers. All three stay signed in. */
const ana = await studio.join('ana', 'Ana Sol', tall);
const ben = await studio.join('ben', 'Ben Sol', tall);
for (const seed of [1, 2, 3]) {
  const bytes = seed === 2 ? await jpeg(200, 300, { seed }) : await jpeg(300, 200, { seed });
  assets.push(await uploadReady(ana, bytes, { title: `Picture ${seed}` }));
}

test('finds a draft, reorders it, sets its cover and publishes it', async () => {
  const id = await makePost('Harbour', { draft: true });
  await ana.goto('/drafts');
  await ana.getByRole('link', { name: /^Harbour/ }).click();
  await ana.getByText('Draft, not published yet').waitFor();
  await ana.getByRole('link', { name: 'Edit' }).click();
  await ana.getByRole('heading', { name: 'Edit draft' }).waitFor();

  const [first = '', second = '', third = ''] = assets;
  await ana.getByLabel('Title', { exact: true }).fill('Harbour at dusk');
  await ana.getByLabel('Tags').fill('dusk,');

  // By keyboard: the button is deleted with its file and keeps the focus.
  const on = ana.getByRole('button', { name: 'Move Picture 1 later' });
  await on.focus();
  await ana.keyboard.press('Enter');
  await expect.poll(shownMembers).toEqual([second, first, third]);
  await expect.poll(() => isFocused(on)).toBe(true);
  await ana.getByText('Now 2 of 3.').waitFor();

  // By pointer: the last onto the first place.
  const tile = (asset: string) => ana.locator(`[data-member="${asset}"] > div > div`).first();
  await drag(ana, await placeIn(tile(third)), await placeIn(tile(second)));
  await expect.poll(shownMembers).toEqual([third, second, first]);

  await ana.getByRole('button', { name: 'Use Picture 1 as the cover' }).click();
  const crop = ana.getByRole('slider', { name: 'Square crop of the cover' });
  await expect.poll(() => crop.getAttribute('aria-valuenow')).toBe('50');
  const middle = await placeIn(crop);
  await drag(ana, middle, { x: middle.x + 400, y: middle.y });
  await expect.poll(() => crop.getAttribute('aria-valuenow')).toBe('100');
  await crop.press('ArrowLeft');
  await crop.press('Shift+ArrowLeft');
  // A draft saves itself.
  await expect.poll(async () => (await readPost(ana, id)).cover_focal_x).toBeCloseTo(2 / 3 - 0.11, 3);

  const saved = await readPost(ana, id);
  expect(saved.members.map((member) => member.asset_id)).toEqual([third, second, first]);
  const given = { title: 'Harbour at dusk', tags: ['dusk'], draft: true, cover_asset_id: first };
  expect(saved).toMatchObject(given);
  // The picture is 3:2, so the square's centre ranges from 1/3 to 2/3; it was moved back by 0.11.
  expect(saved.cover_focal_y).toBe(0.5);

  await ana.getByRole('button', { name: 'Publish', exact: true }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk' }).waitFor();
  await expect.poll(async () => (await readPost(ben, id)).draft).toBe(false);
  await openEditor(id);
  await ana.getByRole('button', { name: 'Turn back into a draft' }).click();
  await ana.getByRole('button', { name: 'Publish', exact: true }).waitFor();
  await expect.poll(async () => (await callFrom(ben, 'GET', `/posts/${id}`)).status).toBe(404);
});

test('quick steps through the pictures of a post add up', async () => {
  const id = await makePost('Steps', { members: assets.map((asset_id) => ({ asset_id })) });
  await visit(ana, `/posts/${id}`);
  await ana.getByText('1 / 3').waitFor();
  for (let steps = 0; steps < 2; steps += 1) await ana.keyboard.press('ArrowRight');
  await ana.getByText('3 / 3').waitFor();
  await ana.getByRole('button', { name: 'Previous file' }).dblclick();
  await ana.getByText('1 / 3').waitFor();
});

test('adds files from the computer and the library, removes one and chooses a thumbnail', async () => {
  const [first = '', second = '', third = ''] = assets;
  const id = await makePost('Growing', { members: [{ asset_id: first }] });
  await openEditor(id);
  // The last file cannot be removed.
  await expect.poll(() => ana.getByRole('button', { name: 'Remove Picture 1' }).isDisabled()).toBe(true);
  await ana.getByLabel('Choose files').setInputFiles(fileOf('fresh.jpg', await jpeg(50, 40)));
  await expect.poll(shownMembers).toHaveLength(2);
  await ana.getByRole('button', { name: 'Choose from your files' }).click();
  const files = ana.getByRole('list', { name: 'Your files' });
  await files.getByRole('button', { name: 'Picture 2' }).click();
  await files.getByRole('button', { name: 'Picture 3' }).click();
  // Files that are in the post are not offered again.
  await expect.poll(() => files.getByRole('button', { name: 'Picture 1' }).count()).toBe(0);
  await ana.getByRole('button', { name: 'Add 2' }).click();
  await expect.poll(async () => (await shownMembers()).slice(2)).toEqual([second, third]);
  await ana.getByRole('button', { name: 'Remove Picture 2' }).click();
  await ana.getByRole('button', { name: 'Choose a thumbnail' }).click();
  await files.getByRole('button', { name: 'Picture 2' }).click();
  await ana.locator(`[data-thumbnail="${second}"]`).waitFor();
  await save();
  const saved = await readPost(ana, id);
  expect(saved.members).toHaveLength(3);
  expect(saved.members[0]?.asset_id).toBe(first);
  expect(saved.members[2]?.asset_id).toBe(third);
  expect(saved.cover_thumbnail_asset_id).toBe(second);

  // After its removal, the cover is the first file.
  await ana.getByRole('button', { name: 'Remove Picture 1' }).click();
  await save();
  await expect.poll(async () => (await readPost(ana, id)).cover_asset_id).toBe(saved.members[1]?.asset_id);
});

test('keeps unsaved changes on leaving and on a concurrent save', async () => {
  const id = await makePost('Ours');
  await openEditor(id);
  const title = ana.getByLabel('Title', { exact: true });
  await title.fill('Mine');
  await ana.getByRole('link', { name: 'Back to the post' }).click();
  await ana.getByRole('button', { name: 'Stay here' }).click();
  await expect.poll(() => title.inputValue()).toBe('Mine');

  await call(mara, 'PATCH', `/posts/${id}`, { title: 'Hers', description: 'From Mara' });
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = ana.getByRole('alertdialog', { name: 'The post has changed' });
  await dialog.getByText('Changed there: the title and the description.').waitFor();
  await expect.poll(async () => (await readPost(ana, id)).title).toBe('Hers');
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await ana.getByText('Saved.', { exact: true }).waitFor();
  await expect.poll(() => readPost(ana, id)).toMatchObject({ title: 'Mine', description: 'From Mara' });
  await expect.poll(() => ana.getByLabel('Description').inputValue()).toBe('From Mara');

  await title.fill('Mine again');
  await call(mara, 'PATCH', `/posts/${id}`, { title: 'Hers again' });
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Load the newer one' }).click();
  await expect.poll(() => title.inputValue()).toBe('Hers again');
  await expect.poll(async () => (await readPost(ana, id)).title).toBe('Hers again');
  await title.fill('Dropped');
  await ana.getByRole('link', { name: 'Back to the post' }).click();
  await ana.getByRole('button', { name: 'Leave', exact: true }).click();
  await ana.getByRole('heading', { name: 'Hers again' }).waitFor();
});

test('comments, replies, edits, likes and deletes; returns the text when sending fails', async () => {
  const id = await makePost('Talked about');
  await visit(ben, `/posts/${id}`);
  const field = ben.getByLabel('Write a comment');
  const send = ben.getByRole('button', { name: 'Comment', exact: true });
  await field.fill('First words');
  await send.click();
  await ben.getByRole('article', { name: 'Comment by Ben Sol' }).getByText('First words').waitFor();
  await ben.getByRole('heading', { name: '1 comment' }).waitFor();

  // A comment that cannot be sent returns to the field, before what was written meanwhile.
  const { promise: written, resolve: goOn } = Promise.withResolvers<void>();
  await ben.route('**/comments', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await written;
    return route.abort();
  });
  await field.fill('Lost words');
  await send.click();
  await expect.poll(() => field.inputValue()).toBe('');
  await field.fill('More words');
  goOn();
  await ben.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  await expect.poll(() => field.inputValue()).toBe('Lost words\n\nMore words');
  await field.fill('Lost words');
  await expect.poll(() => ben.getByRole('article').count()).toBe(1);
  await ben.unroute('**/comments');
  await send.click();
  await expect.poll(() => ben.getByRole('article').count()).toBe(2);
  const bodies = async () => (await thread(id)).map((one) => one.body);
  await expect.poll(bodies).toEqual(['Lost words', 'First words']);

  await visit(ana, `/posts/${id}`);
  const entry = ana.getByRole('article').filter({ hasText: 'First words' });
  await entry.getByRole('button', { name: 'Reply to Ben Sol' }).click();
  await ana.getByLabel('Your reply').fill('And an answer');
  await ana.keyboard.press('Control+Enter');
  await ana.getByRole('list', { name: 'Replies' }).getByText('And an answer').waitFor();

  const like = entry.getByRole('button', { name: 'Like the comment by Ben Sol' });
  await like.click();
  await expect.poll(() => like.getAttribute('aria-pressed')).toBe('true');
  await expect.poll(async () => (await thread(id))[1]?.like_count).toBe(1);
  // Among others, only the author of the post has an action: deleting.
  expect(await entry.getByRole('button', { name: 'Edit' }).count()).toBe(0);

  const reply = ana.getByRole('article').filter({ hasText: 'And an answer' });
  await reply.getByRole('button', { name: 'Edit' }).click();
  await ana.getByLabel('Your comment').fill('A better answer');
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await ana.getByText('changed', { exact: true }).waitFor();
  await expect.poll(async () => (await thread(id))[1]?.replies[0]?.body).toBe('A better answer');
  await entry.getByRole('button', { name: 'Delete' }).click();
  const dialog = ana.getByRole('alertdialog', { name: 'Delete this comment?' });
  await dialog.getByText('Its reply is deleted with it').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => ana.getByRole('article').count()).toBe(1);
  await ana.getByRole('heading', { name: '1 comment' }).waitFor();
  await expect.poll(bodies).toEqual(['Lost words']);
});

test('loads more replies and comments on demand', async () => {
  const id = await makePost('Crowded');
  const { db } = studio.library.database;
  const { ref } = await call(mara, 'GET', '/auth/me');
  await sql`insert into comments (post_id, author_user_ref, body, created_at)
    select ${id}, ${ref}, 'Root ' || n, now() - interval '1 hour' + n * interval '1 second'
    from generate_series(1, 20) n`.execute(db);
  const root = (await call(mara, 'POST', `/posts/${id}/comments`, { body: 'The long one' })).id;
  await sql`insert into comments (post_id, parent_id, author_user_ref, body, created_at)
    select ${id}, ${root}, ${ref}, 'Answer ' || n || '.', now() + n * interval '1 millisecond'
    from generate_series(1, 21) n`.execute(db);

  await visit(ben, `/posts/${id}`);
  await ben.getByRole('button', { name: 'Show 1 more reply' }).click();
  const answers = Array.from({ length: 21 }, (_, at) => `Answer ${at + 1}.`);
  const replies = ben.getByRole('list', { name: 'Replies' }).locator('article > div > p:first-child');
  await expect.poll(async () => (await replies.allInnerTexts()).map((text) => text.trim())).toEqual(answers);
  const roots = ben.getByText(/^Root \d+$/);
  await expect.poll(() => roots.count()).toBe(19);
  await ben.getByRole('button', { name: 'Show more comments' }).click();
  await expect.poll(() => roots.count()).toBe(20);
});

test('a stale read does not revert a like, and a failed like is reverted', async () => {
  const id = await makePost('Raced');
  const link = ben.getByRole('link', { name: /^Raced/ }).first();
  const button = ben.getByRole('main').getByRole('button', { name: /^Like Raced/ });
  const pressed = () => button.getAttribute('aria-pressed');
  const json = await readPost(ben, id);

  // Opened from the feed, the post is shown from the cache while it is reloaded; the response predates the press.
  await ben.goto('/');
  await link.waitFor();
  const late = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  await ben.route(`**/api/v1/posts/${id}`, async (route) => {
    first.resolve();
    await late.promise;
    await route.fulfill({ json });
  });
  const likes: string[] = [];
  const gate = Promise.withResolvers<void>();
  await ben.route(`**/api/v1/posts/${id}/like`, async (route) => {
    likes.push(route.request().method());
    await gate.promise;
    await route.continue();
  });
  await link.click();
  await first.promise;
  await button.press('Enter');
  await expect.poll(pressed).toBe('true');
  // Further presses during the first request only toggle the pending like and send nothing.
  await button.press('Enter');
  await expect.poll(pressed).toBe('false');
  const answered = ben.waitForResponse(`**/api/v1/posts/${id}`);
  late.resolve();
  await (await answered).finished();
  await button.press('Enter');
  await expect.poll(pressed).toBe('true');
  await expect.poll(() => likes).toEqual(['POST']);
  gate.resolve();
  await expect.poll(async () => (await readPost(ben, id)).liked).toBe(true);
  await expect.poll(() => button.getAttribute('aria-label')).toBe('Like Raced, 1 like');
  await ben.unrouteAll({ behavior: 'wait' });

  await ben.route('**/like', (route) => route.abort());
  await button.click();
  await ben.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  await expect.poll(pressed).toBe('true');
  await ben.unrouteAll({ behavior: 'wait' });
});

test('says when comments are off, and offers readers no editing', async () => {
  const id = await makePost('Quiet');
  await openEditor(id);
  await ana.getByRole('switch', { name: 'Comments' }).click();
  await save();
  await visit(ben, `/posts/${id}`);
  await ben.getByText('Comments are off for this post.').waitFor();
  expect(await ben.getByLabel('Write a comment').count()).toBe(0);
  // Only the author and people who administer posts may edit it.
  expect(await ben.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  await visit(ben, `/posts/${id}/edit`);
  await ben.getByRole('heading', { name: 'Only its author can change it' }).waitFor();
});

test('deletes a post with a reason and undoes it', async () => {
  const id = await makePost('Gone soon');
  await openEditor(id);
  await ana.getByRole('button', { name: 'Delete the post' }).click();
  const dialog = ana.getByRole('alertdialog');
  await dialog.getByLabel('Reason (optional)').fill('Wrong pictures');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await ana.getByRole('heading', { name: '“Gone soon” was deleted' }).waitFor();
  await expect.poll(async () => (await callFrom(ben, 'GET', `/posts/${id}`)).status).toBe(404);
  const trash = await call(ana, 'GET', '/account/trash');
  expect(trash.items[0]).toMatchObject({ id, deleted_reason: 'Wrong pictures' });
  await ana.getByRole('button', { name: 'Undo' }).click();
  await ana.getByRole('heading', { name: 'Gone soon', exact: true }).waitFor();
  const members = async () => (await readPost(ana, id)).members.map(({ asset_id }) => asset_id);
  await expect.poll(members).toEqual(assets);
});

test('shares a post with people by name and stops sharing', async () => {
  const id = await makePost('Between us', { visibility: 'private' });
  await openEditor(id);
  await ana.getByRole('radio', { name: /People you choose/ }).check();
  const name = ana.getByLabel('Add a person');
  await name.fill('nobody-here');
  await ana.getByRole('button', { name: 'Add', exact: true }).click();
  await ana.getByText('There is no account named “nobody-here”.').waitFor();
  await name.fill('ben');
  await name.press('Enter');
  const people = ana.getByRole('list', { name: 'People it is shared with' });
  await people.getByRole('link', { name: 'Ben Sol' }).waitFor();
  await expect.poll(async () => (await callFrom(ben, 'GET', `/posts/${id}`)).status).toBe(404);
  await save();
  await expect.poll(async () => (await readPost(ben, id)).title).toBe('Between us');
  await people.getByRole('button', { name: 'Remove Ben Sol' }).click();
  await expect.poll(async () => (await callFrom(ben, 'GET', `/posts/${id}`)).status).toBe(404);
});
