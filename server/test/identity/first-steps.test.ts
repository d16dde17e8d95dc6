import { expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');

/** Returns whether each step is done. */
async function stepsOf(account: Account): Promise<Record<string, boolean>> {
  const { steps } = await account.ok('getFirstSteps');
  return Object.fromEntries(steps.map(({ step, done }) => [step, done]));
}

function setAge(account: Account, days: number) {
  const created_at = new Date(Date.now() - days * 24 * 3600 * 1000).toISOString();
  return db.updateTable('users').set({ created_at }).where('ref', '=', account.ref).execute();
}

// SETUP-6
test('the first administrator begins with what the library needs, and each step is done by its job', async () => {
  const open = {
    people: false,
    fields: false,
    look: false,
    mail: false,
    backup: false,
    picture: false,
    upload: false,
  };
  expect(await stepsOf(root)).toEqual(open);

  const [field] = (await root.ok('listFields')).items;
  await root.ok('updateField', { params: { id: field?.id ?? '' }, body: { label: 'Renamed' } });
  expect(await stepsOf(root)).toEqual({ ...open, fields: true });

  await root.ok('updateAppearance', { body: { accent_light: '#7a1fa2' } });
  await root.ok('updateMailSettings', { body: { smtp_url: 'smtp://mail.example' } });
  await writeSetting(db, 'last_backup', { at: new Date().toISOString() });
  const settings = { ...open, fields: true, look: true, mail: true, backup: true };
  expect(await stepsOf(root)).toEqual(settings);
  await root.ok('updateAppearance', { body: { accent_light: '' } });
  expect(await stepsOf(root)).toEqual({ ...settings, look: false });

  const { id } = await upload(root, await jpeg(60, 40));
  await library.runJobs();
  expect(await stepsOf(root)).toMatchObject({ upload: true, picture: false });
  await root.ok('updateUser', { params: { ref: root.ref }, body: { avatar_asset_id: id } });
  expect(await stepsOf(root)).toMatchObject({ picture: true, people: false });

  await root.ok('createInvitation', { body: {} });
  expect(await stepsOf(root)).toMatchObject({ people: true });
});

// SETUP-6
test('members begin with a picture, a file and following, and with what they may administer', async () => {
  const mara = await library.join('mara');
  const vera = await library.join('vera', 'viewer');
  expect(await stepsOf(mara)).toEqual({ picture: false, upload: false, follow: false });
  expect(await stepsOf(vera)).toEqual({ picture: false, follow: false });
  await mara.ok('followUser', { params: { ref: vera.ref } });
  expect(await stepsOf(mara)).toEqual({ picture: false, upload: false, follow: true });
  await grant(library, vera, 'fields.admin');
  expect(await stepsOf(vera)).toEqual({ fields: true, picture: false, follow: false });
});

// SETUP-6
test('an account has no first steps after 30 days in a library with published posts', async () => {
  const nora = await library.join('nora');
  const file = await upload(nora, plainFile('report'));
  const draft = await publish(nora, [file], { draft: true });
  await setAge(nora, 31);
  expect(await stepsOf(nora)).toHaveProperty('follow');
  await nora.ok('publishPost', { params: { id: draft.id } });
  expect(await stepsOf(nora)).toEqual({});
  await setAge(nora, 29);
  expect(await stepsOf(nora)).toHaveProperty('follow');
});
