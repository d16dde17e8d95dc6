import { expect, test } from 'vitest';
import { png } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { holdBack, overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

/** Ana writes posts, Ben and Eve review them, and Mara administers. */
const studio = await openStudio();
const wide = { viewport: { width: 1440, height: 900 } };
const mara = await studio.enter('mara', wide);
const ana = await studio.join('ana', 'Ana Sol', wide);
const ben = await studio.join('ben', 'Ben Lund', phone);
const eve = await studio.join('eve', 'Eve Roy', wide);

const picture = async (seed: number) =>
  uploadReady(ana, await png(60, 40, seed), { title: `Pier ${seed}`, sensitivity: 'posts' });

// REVIEW-1, REVIEW-3, REVIEW-5, REVIEW-10, APPROVAL-1, APPROVAL-5
test('a draft is reviewed, approved and published, at a desk and on a phone', async () => {
  // More than a page of the list of teams.
  const crews = Array.from({ length: 51 }, (_, at) => `Crew ${100 + at}`);
  await Promise.all(crews.map((name) => call(mara, 'POST', '/teams', { name })));
  await visit(mara, '/admin/reviews');
  const gate = mara.getByRole('group', { name: 'Before a post is published' });
  await gate.getByLabel('Approvals').selectOption('1 approval');
  await gate.getByRole('option', { name: 'Members of Crew 150' }).waitFor({ state: 'attached' });
  await mara.getByRole('button', { name: 'Save', exact: true }).click();
  await mara.getByText('Saved', { exact: true }).waitFor();

  const members = [{ asset_id: await picture(1) }, { asset_id: await picture(2) }];
  const post = await call(ana, 'POST', '/posts', { title: 'Pier at dusk', members, draft: true });
  await visit(ana, `/posts/${post.id}`);
  await ana.getByRole('button', { name: 'Ask for a review' }).click();
  const dialog = ana.getByRole('dialog', { name: 'Ask for a review' });
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click();
  await dialog.getByText('Name at least one person or a team.').waitFor();
  await dialog.getByLabel('People', { exact: true }).fill('ben');
  // The next name is typed while the first is being looked up.
  const lookUp = await holdBack(ana, '**/api/v1/users/by-username/ben');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByLabel('People', { exact: true }).fill('eve');
  lookUp.letGo();
  await dialog.getByRole('button', { name: 'Remove Ben Lund' }).waitFor();
  await dialog.getByLabel('Note (optional)').fill('Is the horizon level?');
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click();
  await ana.getByRole('heading', { name: 'Pier at dusk' }).waitFor();
  await ana.getByText('0 of 2 approved').waitFor();
  await ana.getByText(/^Asked by Ana Sol on /).waitFor();
  expect(await overhang(ana)).toBe(0);

  await visit(ben, '/');
  await ben.getByRole('button', { name: 'Account', exact: true }).click();
  await ben.getByRole('menuitem', { name: 'Reviews 1 waiting for you' }).click();
  await ben.getByRole('link', { name: 'Waiting for me 1' }).waitFor();
  expect(await overhang(ben)).toBe(0);
  await ben.getByRole('link', { name: 'Pier at dusk' }).click();
  await ben.getByText('Is the horizon level?').waitFor();
  const shown = ben.getByRole('img', { name: 'Pier at dusk' }).first();
  await expect
    .poll(() => shown.evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth > 0))
    .toBe(true);
  expect(await ben.getByRole('link', { name: 'Open the post' }).count()).toBe(0);
  const place = { asset_id: members[0]?.asset_id, anchor: { kind: 'point', x: 0.5, y: 0.5 } };
  await call(eve, 'POST', `/posts/${post.id}/annotations`, { ...place, body: 'Crooked.' });
  await ben.getByRole('button', { name: 'Full screen' }).first().tap();
  await ben.getByRole('button', { name: /^Comments/ }).tap();
  const panel = ben.getByRole('complementary', { name: 'Comments on this file' });
  await panel.getByText('Crooked.').waitFor();
  await panel.getByRole('button', { name: 'Reply' }).waitFor();
  await panel.getByRole('button', { name: 'Close the comments' }).tap();
  await ben.getByRole('button', { name: 'Close', exact: true }).tap();
  expect(await overhang(ben)).toBe(0);
  await ben.getByText('Decide about single files').click();
  await ben.getByLabel('2. Pier 2').selectOption('Request changes');
  await ben.getByLabel('Your decision').getByLabel('Note (optional)').fill('The second one is dark.');
  await ben.getByRole('button', { name: 'Request changes' }).click();
  await ben.getByText('You requested changes.').waitFor();
  await ben.getByText('0 of 2 approved, one asks for changes').waitFor();

  await visit(ana, `/posts/${post.id}/edit`);
  await ana.getByRole('button', { name: 'Publish', exact: true }).click();
  const missing = ana.getByRole('dialog', { name: 'Approvals are missing' });
  await missing
    .getByText('One person must approve it first; so far nobody has. Waiting for ben, eve.')
    .waitFor();
  await missing.getByRole('button', { name: 'Open the post' }).click();
  await ana.getByRole('link', { name: /In review/ }).click();
  await ana.getByText('The second one is dark.').waitFor();

  // Ana’s page receives the decision as an event, Eve’s polls without events.
  await eve.route('**/api/v1/events?post=*', (route) => route.abort());
  await eve.clock.install();
  await eve.goto(ana.url());
  await eve.getByText('0 of 2 approved, one asks for changes').waitFor();
  await ben.getByRole('button', { name: 'Approve' }).click();
  await ben.getByText('You approved it.').waitFor();
  await ana.getByText('1 of 2 approved').waitFor();
  await eve.clock.fastForward(16_000);
  await eve.getByText('1 of 2 approved').waitFor();
  await visit(ana, `/posts/${post.id}/edit`);
  await ana.getByRole('button', { name: 'Publish', exact: true }).click();
  await ana.waitForURL(`**/posts/${post.id}`);
  expect(await call(ana, 'GET', `/posts/${post.id}`)).toMatchObject({ draft: false });

  await visit(ana, '/reviews?state=waiting_for_others');
  await ana.getByRole('link', { name: 'Pier at dusk' }).click();
  await ana.getByRole('button', { name: 'Close the review' }).click();
  await ana.getByRole('alertdialog').getByRole('button', { name: 'Close the review' }).click();
  await ana.getByText('Review closed').waitFor();
});

// REVIEW-3, REVIEW-12
test('the notification of a review of a draft shows its picture and leads to the review', async () => {
  const cover = await picture(9);
  const post = await call(ana, 'POST', '/posts', {
    title: 'Breakwater',
    members: [{ asset_id: cover }],
    draft: true,
  });
  const refused: string[] = [];
  ben.on('response', (response) => {
    if (response.url().includes(post.id) && response.status() >= 400) refused.push(response.url());
  });
  const { ref } = await call(ana, 'GET', '/users/by-username/ben');
  const review = await call(ana, 'POST', `/posts/${post.id}/reviews`, { reviewers: [ref] });
  await visit(ben, '/notifications');
  const row = ben.getByRole('link', { name: /Ana Sol asks you to review Breakwater/ });
  const shown = row.locator(`img[src*="${cover}"]`);
  await shown.waitFor();
  await expect
    .poll(() => shown.evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth > 0))
    .toBe(true);
  expect(refused).toEqual([]);
  await row.click();
  await ben.waitForURL(`**/reviews/${review.id}`);
  await ben.getByRole('heading', { name: 'Breakwater' }).waitFor();
});

// APPROVAL-5
test('an administrator publishes without the approvals for a reason', async () => {
  const members = [{ asset_id: await picture(3) }];
  const post = await call(ana, 'POST', '/posts', { title: 'Mole', members, draft: true });
  await visit(mara, `/posts/${post.id}/edit`);
  await mara.getByRole('button', { name: 'Publish', exact: true }).click();
  const dialog = mara.getByRole('dialog', { name: 'Approvals are missing' });
  await dialog.getByRole('button', { name: 'Go ahead anyway' }).click();
  await dialog.getByText('Give a reason. It is recorded.').waitFor();
  await dialog.getByLabel('Reason for going ahead').fill('The client waits.');
  await dialog.getByRole('button', { name: 'Go ahead anyway' }).click();
  await mara.waitForURL(`**/posts/${post.id}`);
  const { items } = await call(mara, 'GET', '/admin/audit?event=approval.overridden');
  expect(items).toMatchObject([{ target_id: post.id, metadata: { reason: 'The client waits.' } }]);
});

// APPROVAL-1, APPROVAL-5
test('a link and a wider audience go ahead without the approvals for a reason', async () => {
  const settings = { publish: { required: 0 }, public_audience: { required: 1 }, links: { required: 1 } };
  await call(mara, 'PATCH', '/admin/system/approvals', settings);
  const members = [{ asset_id: await picture(5) }];
  const post = await call(ana, 'POST', '/posts', { title: 'Jetty', members, visibility: 'private' });
  const dialog = mara.getByRole('dialog', { name: 'Approvals are missing' });
  const goAhead = async (reason: string) => {
    await dialog.getByLabel('Reason for going ahead').fill(reason);
    await dialog.getByRole('button', { name: 'Go ahead anyway' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await visit(mara, `/posts/${post.id}`);
  await mara.getByRole('button', { name: 'Share link' }).click();
  await mara.getByRole('button', { name: 'Create link' }).click();
  await goAhead('The client waits for the link.');
  await mara.getByLabel('Address of the link').waitFor();
  await visit(mara, `/posts/${post.id}/edit`);
  await mara.getByRole('radio', { name: /^Everyone, including visitors/ }).check();
  await mara.getByRole('button', { name: 'Save', exact: true }).click();
  await goAhead('The fair opens today.');
  await mara.getByText('Saved.').waitFor();
  expect((await call(mara, 'GET', `/posts/${post.id}`)).visibility).toBe('public');
  const { items } = await call(mara, 'GET', '/admin/audit?event=approval.overridden');
  expect(items.slice(0, 2).map(({ metadata }: { metadata: { reason: string } }) => metadata.reason)).toEqual([
    'The fair opens today.',
    'The client waits for the link.',
  ]);
  const none = { publish: { required: 0 }, public_audience: { required: 0 }, links: { required: 0 } };
  await call(mara, 'PATCH', '/admin/system/approvals', none);
});

// WORKFLOW-2, WORKFLOW-3
test('states are added and restricted, and a change of state is confirmed', async () => {
  await visit(mara, '/admin/reviews');
  await mara.getByLabel('New state').fill('Printed');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  const wip = mara.getByRole('group', { name: 'Work in progress' });
  await wip.getByLabel('Printed').uncheck();
  await mara.getByRole('button', { name: 'Save the states' }).click();
  await mara.getByText('Saved', { exact: true }).waitFor();
  await mara.setViewportSize({ width: 390, height: 844 });
  expect(await overhang(mara)).toBe(0);

  const asset = await picture(4);
  await visit(ana, `/assets/${asset}`);
  const state = ana.getByLabel('Workflow state', { exact: true });
  const question = ana.getByRole('alertdialog');
  const confirm = () => question.getByRole('button', { name: 'Change the state' }).click();
  await state.selectOption('Printed');
  await confirm();
  await question.getByText('Nothing moves from wip to printed.').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await state.selectOption('Approved');
  await ana.getByText('The file moves from Work in progress to Approved.').waitFor();
  await confirm();
  await question.waitFor({ state: 'detached' });
  await expect.poll(() => state.locator('option:checked').innerText()).toBe('Approved');
  await state.selectOption('Printed');
  await confirm();
  await expect.poll(() => state.locator('option:checked').innerText()).toBe('Printed');
});
