import { createServer, type ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { fetchProfilePictureJob } from '../../src/content/assets/jobs/profile-picture.ts';
import { visit } from '../support/client.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { listen } from '../support/listen.ts';
import { client, openBrowser, openProvider } from '../support/openid.ts';
import { jpeg } from '../support/pictures.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const provider = await openProvider(library, 'studio');
await root.ok('createProvider', {
  body: {
    name: 'studio',
    kind: 'oidc',
    label: 'Studio',
    issuer: provider.issuer,
    client_id: client.id,
    client_secret: client.secret,
    creation: 'first_sign_in',
  },
});
const [first, second] = [await jpeg(80, 80, { seed: 1 }), await jpeg(80, 80, { seed: 2 })];
const answers: Record<string, (response: ServerResponse) => void> = {
  '/first.jpg': (response) => response.end(first),
  '/second.jpg': (response) => response.end(second),
  '/page': (response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end('<h1>no picture</h1>'),
  '/large': (response) => response.end(Buffer.concat([first, Buffer.alloc(6 * 1024 ** 2)])),
  '/moved': (response) => response.writeHead(302, { location: '/first.jpg' }).end(),
};
const asked: string[] = [];
const pictures = createServer((request, response) => {
  asked.push(request.url ?? '');
  const answer = answers[request.url ?? ''];
  if (answer === undefined) response.writeHead(404).end();
  else answer(response);
});
const base = `http://127.0.0.1:${await listen(pictures)}`;
afterAll(async () => {
  await provider.close();
  pictures.closeAllConnections();
  await new Promise((resolve) => pictures.close(resolve));
});

/** Signs in at the provider, which claims this picture, and returns the picture of the profile afterwards. */
async function signIn(sub: string, picture?: unknown) {
  provider.person = { sub, preferred_username: sub, ...(picture === undefined ? {} : { picture }) };
  const browser = openBrowser(library);
  await browser.follow(`${address}/api/v1/auth/oidc/studio/start`);
  await library.runJobs();
  const visitor = visit(address, {}, browser.cookie(address, 'user'));
  const { avatar_asset_id: id, ref } = await visitor.ok('getAccountProfile');
  return { visitor, ref, id };
}

// SSO-60
test('the picture that a provider claims becomes that of the profile, and follows its address', async () => {
  const one = await signIn('mia', `${base}/first.jpg`);
  const asset = await one.visitor.ok('getAsset', { params: { id: one.id ?? '' } });
  expect(asset).toMatchObject({
    title: 'Profile picture',
    sensitivity: 'public',
    processing_status: 'ready',
  });
  expect((await signIn('mia', `${base}/first.jpg`)).id).toBe(one.id);
  expect((await signIn('mia')).id).toBe(one.id);
  expect(asked.filter((path) => path === '/first.jpg')).toHaveLength(1);
  const changed = (await signIn('mia', `${base}/second.jpg`)).id;
  expect(changed).not.toBe(one.id);
  expect(changed).not.toBeNull();
});

// SSO-60
test('a picture that a person chose or removed stays as they left it', async () => {
  const { visitor, ref } = await signIn('noa');
  const account: Account = { ...visitor, ref, username: 'noa' };
  const own = await upload(account, await jpeg(60, 60, { seed: 3 }), { sensitivity: 'public' });
  await library.runJobs();
  await visitor.ok('updateUser', { params: { ref }, body: { avatar_asset_id: own.id } });
  expect((await signIn('noa', `${base}/first.jpg`)).id).toBe(own.id);
  const other = await signIn('tom', `${base}/first.jpg`);
  expect(other.id).not.toBeNull();
  await other.visitor.ok('updateUser', { params: { ref: other.ref }, body: { clear_avatar: true } });
  expect((await signIn('tom', `${base}/second.jpg`)).id).toBeNull();
});

// SSO-61
test('a claimed address is ignored if it redirects, is unusable, or returns no picture of the allowed size', async () => {
  for (const picture of [
    `${base}/page`,
    `${base}/large`,
    `${base}/moved`,
    `${base}/gone`,
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'http://169.254.169.254/latest',
    7,
    { url: `${base}/first.jpg` },
  ])
    expect((await signIn('una', picture)).id, String(picture)).toBeNull();
});

// SSO-6, SSO-61
test('pictures at private addresses are not fetched unless the operator allows them', async () => {
  const { ref } = await signIn('vera');
  asked.length = 0;
  const config = { ...deps.config, providerPrivateAddresses: false };
  const { db, storage, ladder, log } = deps;
  const run = fetchProfilePictureJob({ db, storage, ladder, log, config });
  // The handler uses neither the helpers nor the state of the worker.
  for (const url of [
    `${base}/first.jpg`,
    'https://localhost/first.jpg',
    'https://10.0.0.1/x',
    'https://[::1]/x',
  ])
    await run({ user: ref, url }, undefined as never);
  expect(asked).toEqual([]);
  expect((await signIn('vera')).id).toBeNull();
});
