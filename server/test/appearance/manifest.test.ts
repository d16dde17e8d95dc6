import { expect, test } from 'vitest';
import { openLibrary } from '../support/library.ts';
import { forgetLogos, newLogo, useBytes } from './logos.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');

// APP-1
test('the manifest has the name of the library, and a square logo among its icons', async () => {
  await root.ok('updateSite', { body: { site_name: 'Studio North' } });
  const read = async () => {
    const answer = await fetch(`${library.address}/manifest.webmanifest`);
    const { status, headers } = answer;
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/manifest+json; charset=utf-8',
      'no-cache',
    ]);
    return answer.json();
  };
  const icons = ['/icons/app-192.png', '/icons/app-512.png', '/icons/maskable-512.png'];
  const sources = ({ icons }: { icons: { src: string }[] }) => icons.map(({ src }) => src);
  const manifest = await read();
  expect(manifest).toMatchObject({ name: 'Studio North', start_url: '/', display: 'standalone' });
  expect(sources(manifest)).toEqual(icons);
  expect(manifest.share_target).toMatchObject({ action: '/share', method: 'POST' });
  await useBytes(root, (await newLogo(300, 100)).bytes);
  expect(sources(await read())).toEqual(icons);
  const { bytes, hash } = await newLogo(256, 256);
  await useBytes(root, bytes);
  expect(sources(await read())).toEqual([`/api/v1/appearance/logo?v=${hash}`, ...icons]);
  await forgetLogos(library);
  expect((await fetch(`${library.address}/manifest.webmanifest`, { method: 'POST' })).status).toBe(405);
});

// APP-7
test('without a service worker, sharing leads to a page that says that nothing arrived', async () => {
  const body = new FormData();
  body.append('files', new Blob(['a picture']), 'picture.jpg');
  const answer = await fetch(`${library.address}/share`, { method: 'POST', body, redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/new?shared=0']);
});
