import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, callFrom, publish, upload, uploadReady } from './call.ts';
import { overhang, phone } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara', { viewport: { width: 1440, height: 900 } });
const onPhone = await studio.enter('mara', phone);

test('copies are compared side by side, and merged or marked as different with the keyboard', async () => {
  const bytes = await jpeg(300, 200);
  const first = await upload(mara, bytes, { title: 'Pier' });
  const second = await upload(mara, bytes, { title: 'Pier again', tags: 'dusk' });
  const post = await publish(mara, 'At the pier', [second.id]);
  await mara.goto('/assets');
  await mara.getByRole('button', { name: 'More', exact: true }).click();
  await mara.getByRole('menuitem', { name: 'Find duplicates' }).click();
  const group = mara.getByRole('region', { name: /^Duplicates of/ });
  await group.getByText('dusk').waitFor();
  const keep = group.getByRole('radio', { name: /: Pier$/ });
  await keep.check();
  await keep.press('2');
  await keep.press('1');
  const pier = group.getByRole('radio', { name: /: Pier$/ });
  await pier.check();
  await pier.press('m');
  await mara.getByText('Merged. One file is in the trash.').waitFor();
  await mara.getByText('No file is here twice.').waitFor();
  expect((await call(mara, 'GET', `/assets/${first.id}`)).tags).toEqual(['dusk']);
  const { members } = await call(mara, 'GET', `/posts/${post}`);
  expect(members.map(({ asset_id }: { asset_id: string }) => asset_id)).toEqual([first.id]);
});

test('similar pictures are marked as different on a phone', async () => {
  await uploadReady(onPhone, await jpeg(600, 400), { title: 'Large' });
  await uploadReady(onPhone, await jpeg(320, 213), { title: 'Small' });
  // A print that is added later changes the groups.
  const prints = async () =>
    (await studio.library.deps.db.selectFrom('picture_prints').select('file_hash').execute()).length;
  await expect.poll(prints).toBe(3);
  await onPhone.goto('/assets/duplicates?kind=similar');
  await onPhone.getByText('% alike').first().waitFor();
  expect(await overhang(onPhone)).toBe(0);
  const before = await onPhone.getByText('% alike').count();
  await onPhone.getByRole('button', { name: 'They are different' }).first().click();
  await onPhone.getByText('Marked as different.').waitFor();
  await expect.poll(() => onPhone.getByText('% alike').count()).toBe(before - 1);
});

test('on a phone, copies are merged', async () => {
  const bytes = await jpeg(240, 160, { seed: 4 });
  const copies = [
    await upload(onPhone, bytes, { title: 'Buoy' }),
    await upload(onPhone, bytes, { title: 'Buoy again' }),
  ];
  await onPhone.goto('/assets/duplicates');
  const group = onPhone.getByRole('region', { name: /^Duplicates of/ });
  await group.getByRole('radio', { name: /: Buoy$/ }).check();
  await group.getByRole('button', { name: 'Keep this, remove the other' }).click();
  await onPhone.getByText('Merged. One file is in the trash.').waitFor();
  expect((await callFrom(onPhone, 'GET', `/assets/${copies[1]?.id}`)).status).toBe(404);
  expect((await callFrom(onPhone, 'GET', `/assets/${copies[0]?.id}`)).status).toBe(200);
});
