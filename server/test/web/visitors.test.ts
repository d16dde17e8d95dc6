import { expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import { animatedGif, jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { drag, isFocused, naturalWidth, overhang, phone, placeIn, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const owner = await studio.enter('mara');
const first = await uploadReady(owner, await jpeg(600, 400), { title: 'Pier', sensitivity: 'posts' });
const second = await uploadReady(owner, await jpeg(60, 90), { title: 'Quay', sensitivity: 'posts' });
const post = await publish(owner, 'Harbour', [first, second], { visibility: 'private' });
const outsider = await studio.openPage(phone);
const sizes = [phone.viewport, { width: 1440, height: 900 }];

const dialog = () => owner.getByRole('dialog');
const links = () => dialog().getByRole('region', { name: 'Links' });
const download = () => outsider.getByRole('link', { name: 'Download all' });

test('the owner creates a link with a password, and a visitor opens it on a phone', async () => {
  await owner.goto(`/posts/${post}`);
  await owner.getByRole('button', { name: 'Share link' }).click();
  await dialog().getByLabel('Label', { exact: true }).fill('For the client');
  await dialog().getByLabel('Password', { exact: true }).selectOption('set');
  await dialog().getByLabel('The password').fill('anchor');
  await dialog().getByRole('button', { name: 'Create link' }).click();
  const address = new URL(await dialog().getByLabel('Address of the link').inputValue()).pathname;

  await outsider.goto(address);
  await outsider.getByLabel('Password').fill('buoy');
  await outsider.getByRole('button', { name: 'Open' }).click();
  await outsider.getByText('That is not the password of this link.').waitFor();
  await outsider.getByLabel('Password').fill('anchor');
  await outsider.getByRole('button', { name: 'Open' }).click();
  await outsider.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  await expect.poll(() => naturalWidth(outsider.getByRole('img', { name: 'Pier' }))).toBeGreaterThan(200);
  await expect.poll(() => outsider.getByRole('listitem').count()).toBe(2);
  expect(await download().count()).toBe(0);
  expect(await overhang(outsider)).toBe(0);

  await outsider.getByRole('button', { name: 'Show Pier' }).click();
  const viewer = outsider.getByRole('dialog');
  await viewer.getByText('Pier').waitFor();
  await outsider.keyboard.press('ArrowRight');
  await viewer.getByText('Quay').waitFor();
  await outsider.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });
});

// LINK-19, LINK-20, LINK-21
test('the owner finds the address and the views of the link again, and renews it', async () => {
  // The visitor's page does not wait until a view is counted.
  const counted = async () => (await call(owner, 'GET', `/posts/${post}/links`)).items[0]?.view_count;
  await expect.poll(counted).toBe(2);
  await visit(owner, '/settings/links');
  await owner.getByRole('button', { name: /Opened once.* 2 views/ }).click();
  const views = owner.getByRole('list', { name: 'Views and downloads' });
  await expect.poll(() => views.getByRole('listitem').allInnerTexts()).toHaveLength(2);
  for (const size of sizes) {
    await owner.setViewportSize(size);
    expect(await overhang(owner)).toBe(0);
  }
  await owner.getByRole('button', { name: 'New address for For the client' }).click();
  await owner.getByRole('button', { name: 'Make new address' }).click();
  const renewed = new URL(await owner.getByLabel('New address', { exact: true }).inputValue()).pathname;
  await outsider.reload();
  await outsider.getByRole('heading', { name: 'This link is no longer available' }).waitFor();
  await visit(outsider, renewed);
  await outsider.getByLabel('Password').waitFor();
  await visit(owner, `/posts/${post}`);
  await owner.getByRole('button', { name: 'Share link' }).click();
  await links().getByRole('button', { name: 'Copy For the client' }).waitFor();
});

test('changed terms of a link apply at once and keep the others', async () => {
  await links().getByRole('button', { name: 'Change For the client' }).click();
  const form = dialog().getByRole('form', { name: 'Change the link' });
  await form.getByLabel('Password', { exact: true }).selectOption('none');
  await form.getByLabel('Downloads').click();
  await form.getByLabel('Watermark', { exact: true }).selectOption('own');
  await form.getByLabel('Text', { exact: true }).fill('Draft');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await links().getByText('Downloads · Watermark “Draft”').waitFor();
  const [link] = (await call(owner, 'GET', `/posts/${post}/links`)).items;
  expect(link).toMatchObject({ label: 'For the client', has_password: false, watermark: 'Draft' });
  expect(Date.parse(link.expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);

  await outsider.reload();
  await download().waitFor();
});

test('a revoked link shows an error', async () => {
  await links().getByRole('button', { name: 'Revoke For the client' }).click();
  await links().waitFor({ state: 'detached' });
  await outsider.reload();
  await outsider.getByRole('heading', { name: 'This link is no longer available' }).waitFor();
  expect(await outsider.getByText('Harbour').count()).toBe(0);
});

// LINK-10
// GUEST-1, GUEST-5, GUEST-7, GUEST-8, GUEST-9, GUEST-13
test('a guest picks, comments and approves, and the owner sees it and mutes them', async () => {
  await dialog().getByLabel('Label', { exact: true }).fill('For picks');
  await dialog().getByRole('switch', { name: 'Feedback' }).click();
  await dialog().getByRole('switch', { name: 'Favourites' }).click();
  await dialog().getByLabel('At most how many').fill('1');
  await dialog().getByRole('button', { name: 'Create link' }).click();
  const address = new URL(await dialog().getByLabel('Address of the link').inputValue()).pathname;

  await visit(outsider, address);
  const panel = outsider.getByRole('region', { name: 'Your feedback' });
  expect(await outsider.getByRole('button', { name: 'Pick Pier' }).count()).toBe(0);
  await panel.getByLabel('Your name').fill('Jonas');
  await panel.getByRole('button', { name: 'Continue' }).click();
  // On a slow connection, a pick neither blocks the next one nor takes the focus away.
  const { promise: fast, resolve: hasten } = Promise.withResolvers<void>();
  await outsider.route('**/api/v1/links/**', (route) => fast.then(() => route.continue()));
  const pier = outsider.getByRole('button', { name: 'Pick Pier' });
  const quay = outsider.getByRole('button', { name: 'Pick Quay' });
  await pier.press('Enter');
  await quay.press('Enter');
  await expect.poll(() => quay.getAttribute('aria-pressed')).toBe('true');
  expect(await isFocused(quay)).toBe(true);
  hasten();
  await panel.getByText('1 of 1 picked').waitFor();
  await panel.getByRole('alert').waitFor();
  await expect.poll(() => quay.getAttribute('aria-pressed')).toBe('false');
  expect(await pier.getAttribute('aria-pressed')).toBe('true');

  const comment = panel.getByRole('textbox', { name: 'Your comment' });
  const { promise: soon, resolve: send } = Promise.withResolvers<void>();
  await outsider.route('**/comments', (route) => soon.then(() => route.continue()));
  await comment.fill('<b>Lovely</b>');
  await panel.getByLabel('About').selectOption('Pier');
  await panel.getByRole('button', { name: 'Send comment' }).click();
  await comment.press('End');
  await outsider.keyboard.type(' And warm');
  send();
  await panel.getByText('<b>Lovely</b>').waitFor();
  await expect.poll(() => comment.inputValue()).toBe('And warm');
  await outsider.unrouteAll({ behavior: 'wait' });
  await comment.fill('');
  await panel.getByRole('button', { name: 'Approve' }).click();
  await panel.getByText('Approved').waitFor();
  const place = { asset_id: first, anchor: { kind: 'point', x: 0.5, y: 0.5 }, body: 'Too dark' };
  await call(outsider, 'POST', `/links/${address.split('/').at(-1)}/annotations`, place);
  await outsider.reload();
  await panel.getByText('<b>Lovely</b>').waitFor();
  await expect.poll(() => pier.getAttribute('aria-pressed')).toBe('true');
  for (const size of sizes) {
    await outsider.setViewportSize(size);
    expect(await overhang(outsider)).toBe(0);
  }
  await outsider.setViewportSize(phone.viewport);

  // Loads the page, which has just read the comments.
  await owner.goto(`/posts/${post}`);
  await owner.getByText('guest of a share link').first().waitFor();
  // The owner can only look at the place, and remove it.
  const placed = owner.getByRole('article', { name: 'Comment by Jonas' }).filter({ hasText: 'Too dark' });
  await placed.getByRole('button', { name: 'Delete' }).waitFor();
  await expect
    .poll(() => placed.getByRole('button').allInnerTexts())
    .toEqual([expect.stringContaining('Point'), 'Delete']);
  await visit(owner, '/settings/links');
  const entry = owner.getByRole('listitem').filter({ hasText: 'For picks' }).first();
  await entry.getByRole('button', { name: /Opened/ }).click();
  await entry.getByRole('list', { name: 'Picks' }).getByText('Pier').waitFor();
  await entry.getByRole('list', { name: 'Feedback' }).getByText('<b>Lovely</b>').waitFor();
  for (const size of sizes) {
    await owner.setViewportSize(size);
    expect(await overhang(owner)).toBe(0);
  }
  const said = entry.getByRole('listitem').filter({ hasText: '<b>Lovely</b>' });
  await said.getByRole('button', { name: 'Remove what Jonas wrote' }).click();
  await entry.getByText('<b>Lovely</b>').waitFor({ state: 'detached' });
  // The page of the link updates without a reload.
  await panel.getByText('<b>Lovely</b>').waitFor({ state: 'detached' });
  await entry.getByRole('button', { name: 'Mute Jonas' }).click();
  await entry.getByRole('button', { name: 'Unmute Jonas' }).waitFor();
  await panel.getByText('takes no more feedback').waitFor();
});

// GUEST-7
test('a guest comments on a place in the viewer, on a phone and at a desk, and the owner works with the picks', async () => {
  const moving = await uploadReady(
    owner,
    await animatedGif(),
    { title: 'Flag', sensitivity: 'posts' },
    'f.gif',
  );
  const shared = await publish(owner, 'For Nord', [first, moving], { visibility: 'private' });
  const terms = { label: 'Nord', allow_feedback: true, allow_picks: true };
  const { url, id } = await call(owner, 'POST', `/posts/${shared}/links`, terms);
  const token = url.split('/').at(-1);
  const desk = await studio.openPage({ viewport: { width: 1440, height: 900 } });
  for (const [index, guest] of [outsider, desk].entries()) {
    await visit(guest, new URL(url).pathname);
    await guest.getByRole('button', { name: 'Show Pier' }).click();
    const viewer = guest.getByRole('dialog');
    await viewer.getByRole('button', { name: /^Comments/ }).click();
    const panel = guest.getByRole('complementary', { name: 'Comments on this file' });
    await panel.getByLabel('Your name').fill(`Jonas ${index}`);
    await panel.getByRole('button', { name: 'Continue' }).click();
    await panel.getByRole('button', { name: 'Comment on a place' }).click();
    await panel.getByLabel('Write a comment').fill('<b>Too dark</b>');
    const picture = viewer.getByRole('img', { name: 'Pier' });
    await drag(guest, await placeIn(picture, 0.45, 0.45), await placeIn(picture, 0.55, 0.55));
    await panel.getByRole('button', { name: 'Comment', exact: true }).click();
    const entry = panel.getByRole('listitem').filter({ hasText: `Jonas ${index}` });
    await entry.getByText('<b>Too dark</b>').waitFor();
    await entry.getByText('Area').waitFor();
    await expect
      .poll(() => viewer.locator('svg[data-marks]').first().getAttribute('data-marks'))
      .toBe(String(index + 1));
    expect(await overhang(guest)).toBe(0);
    const [made] = (await call(guest, 'GET', `/links/${token}/comments`)).items;
    expect(made.annotation).toMatchObject({ asset_id: first, anchor: { kind: 'region' } });
    // The panel closes before the viewer.
    await guest.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await guest.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
  }
  // An animated picture has the same layer.
  await desk.getByRole('button', { name: 'Show Flag' }).click();
  await desk.getByRole('button', { name: /^Comments/ }).click();
  await desk.getByRole('button', { name: 'Comment on a place' }).click();
  await desk.getByRole('dialog').locator('[data-draft]').waitFor();
  await desk.getByLabel('Write a comment').fill('Too slow');
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('Escape');
  await desk.getByRole('dialog').waitFor({ state: 'detached' });
  // What was written is there again, also after the page was loaded again.
  await desk.getByLabel('Your comment').fill('For all');
  await desk.reload();
  await expect.poll(() => desk.getByLabel('Your comment').inputValue()).toBe('For all');
  await desk.getByRole('button', { name: 'Show Flag' }).click();
  await desk.getByRole('button', { name: /^Comments/ }).click();
  await desk.getByRole('button', { name: 'Comment on a place' }).click();
  expect(await desk.getByLabel('Write a comment').inputValue()).toBe('Too slow');
  for (let layers = 0; layers < 3; layers += 1) await desk.keyboard.press('Escape');
  await desk.getByRole('dialog').waitFor({ state: 'detached' });
  await outsider.getByRole('button', { name: 'Pick Flag' }).click();
  await outsider.getByText('1 picked').waitFor();
  await owner.goto('/settings/links');
  const entry = owner.getByRole('listitem').filter({ hasText: 'Nord' }).first();
  await entry
    .getByRole('button', { name: /Opened|Never opened|views?/ })
    .first()
    .click();
  await entry.getByRole('button', { name: 'Select the picked files' }).click();
  await owner.waitForURL(/\/assets/);
  await owner.getByText('1 file selected').first().waitFor();
  const notices = async () => {
    const { items } = await call(owner, 'GET', '/account/notifications');
    return items.filter((notice: { link?: { id: string } }) => notice.link?.id === id);
  };
  await expect.poll(notices).toHaveLength(1);
});

test('a link says why it does not play a sound', async () => {
  const bytes = await clip({ format: 'wav', audio: { encoder: 'pcm_s16le' }, seconds: 1 });
  const sound = await uploadReady(owner, bytes, { title: 'Bell', sensitivity: 'public' }, 'bell.wav');
  const open = async (terms: object) => {
    const { url } = await call(owner, 'POST', `/assets/${sound}/links`, terms);
    await visit(outsider, new URL(url).pathname);
    await outsider.getByRole('button', { name: 'Show Bell' }).click();
  };
  await open({ watermark: true });
  await outsider.getByText('Films and sounds cannot have one, so they cannot be played here.').waitFor();
  await outsider.keyboard.press('Escape');
  await outsider.getByRole('dialog').waitFor({ state: 'detached' });
  await open({ allow_download: true });
  await outsider.getByRole('dialog').locator('audio').waitFor({ state: 'attached' });
});

test('a visitor searches, follows tags and names, and finds only public posts and no controls', async () => {
  const asset = await uploadReady(owner, await jpeg(300, 200), { title: 'Mole', tags: 'harbour' });
  const tags = ['harbour'];
  const open = await publish(owner, 'Open harbour', [asset], { tags, visibility: 'public' });
  await publish(owner, 'Closed harbour', [asset], { tags, visibility: 'org-only' });
  const { id } = await call(owner, 'POST', '/collections', { name: 'Postcards', visibility: 'public' });
  await call(owner, 'PUT', `/collections/${id}/posts/${open}`);
  await call(owner, 'POST', `/posts/${open}/comments`, { body: 'Still here' });
  await call(owner, 'PUT', '/system/public-mode', { enabled: true });
  const openPost = outsider.getByRole('link', { name: /Open harbour/ }).first();
  const look = async () => {
    await openPost.waitFor();
    expect(await outsider.getByText('Closed harbour').count(), outsider.url()).toBe(0);
    const name = /Save|Edit|Arrange|Views|Follow/;
    const controls = outsider.getByRole('main').getByRole('button', { name });
    expect(await controls.allInnerTexts(), outsider.url()).toEqual([]);
  };
  await outsider.goto('/?show=trending');
  await outsider.getByRole('link', { name: 'Trending' }).waitFor();
  expect(await outsider.getByRole('link', { name: 'Following' }).count()).toBe(0);
  await look();
  await outsider.getByRole('link', { name: 'Collections' }).click();
  await outsider.getByRole('link', { name: /^Postcards/ }).click();
  await outsider.getByRole('heading', { name: 'Postcards', level: 1 }).waitFor();
  await look();
  await visit(outsider, `/assets/${asset}`);
  const list = outsider.getByRole('list', { name: 'Tags' });
  await list.getByRole('link', { name: /harbour/ }).click();
  await outsider.waitForURL(/\/tags\/harbour$/);
  await look();
  await visit(outsider, '/users/mara');
  await look();
  await visit(outsider, '/search?q=harbour');
  await look();

  await visit(outsider, `/posts/${open}`);
  await outsider.getByText('Still here').waitFor();
  const link = outsider.getByRole('link', { name: 'Sign in to comment' });
  const next = encodeURIComponent(`/posts/${open}`);
  await expect.poll(() => link.getAttribute('href')).toBe(`/sign-in?next=${next}`);
  expect(await outsider.getByRole('button', { name: /^Like/ }).count()).toBe(0);
  await visit(outsider, '/requests');
  await outsider.waitForURL(/\/sign-in\?next=/);
});
