import { operations } from '@vitrine/contract/operations';
import { beforeAll, describe, expect, test } from 'vitest';
import { visit } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { openSecond } from '../support/second.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const asset = await upload(root, plainFile());
await publish(root, [asset], { visibility: 'public' });

const all = Object.values(operations);

/** Fills the parameters of a path with those of an existing object. */
function addressOf(path: string): string {
  return path
    .replace('{id}', asset.id)
    .replace('{key}', 'col')
    .replace('{username}', 'root')
    .replace(/\{\w*ref\}/g, String(root.ref))
    .replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000001');
}

async function ask({ method, path }: { method: string; path: string }) {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
  return library.anonymous().send(addressOf(path), { method, ...body });
}

// PUBLIC-1
describe('with public mode off', () => {
  beforeAll(() => library.setPublicMode(false));

  // PUBLIC-1
  test('an anonymous request is 401 on every operation but those that open the library', async () => {
    const answered: string[] = [];
    for (const operation of all) {
      const answer = await ask(operation);
      if (answer.status === 401) expect(Object.keys(JSON.parse(answer.text))).toEqual(['error']);
      // Wrong credentials would return 401 as well; the empty body sent here returns 400.
      else answered.push(`${operation.method} ${operation.path} ${answer.status}`);
    }
    expect(answered.sort()).toEqual([
      'DELETE /links/{token}/picks/{asset_id} 404',
      'GET /appearance 200',
      'GET /appearance/logo 404',
      'GET /auth/oidc/{name}/callback 400',
      'GET /auth/oidc/{name}/frontchannel-logout 400',
      'GET /auth/oidc/{name}/start 400',
      'GET /auth/providers 200',
      'GET /auth/saml/{name}/metadata 400',
      'GET /auth/saml/{name}/start 400',
      'GET /build-info 200',
      'GET /invitations/{token} 404',
      'GET /links/{link} 404',
      'GET /links/{token}/archive 404',
      'GET /links/{token}/assets/{id}/file 404',
      'GET /links/{token}/assets/{id}/media 404',
      'GET /links/{token}/assets/{id}/subtitles/{lang} 404',
      'GET /links/{token}/assets/{id}/tiles/{level}/{tile} 400',
      'GET /links/{token}/assets/{id}/variants/hls/{name} 404',
      'GET /links/{token}/assets/{id}/variants/{key} 404',
      'GET /links/{token}/comments 404',
      'GET /links/{token}/events 404',
      'GET /setup/status 200',
      'POST /auth/login 400',
      'POST /auth/oidc/{name}/backchannel-logout 415',
      'POST /auth/passkey 400',
      'POST /auth/passkey/options 200',
      'POST /auth/password-reset 400',
      'POST /auth/password-reset/{token} 400',
      'POST /auth/register 400',
      'POST /auth/resend-verification 400',
      'POST /auth/saml/{name}/callback 415',
      'POST /auth/verify-email 400',
      'POST /invitations/{token}/accept 400',
      'POST /links/{token}/annotations 400',
      'POST /links/{token}/assets/{id}/view 404',
      'POST /links/{token}/comments 400',
      'POST /links/{token}/decide 400',
      'POST /links/{token}/guest 400',
      'POST /links/{token}/unlock 400',
      'POST /setup/complete 400',
      'PUT /links/{token}/picks/{asset_id} 404',
    ]);
  });

  test('responds identically for existing and unknown targets', async () => {
    const missing = '/posts/00000000-0000-4000-8000-00000000dead';
    const answers = [`/assets/${asset.id}`, missing, '/posts/no-uuid', '/posts?limit=0'];
    for (const path of answers) {
      const answer = await library.anonymous().send(path);
      expect([path, answer.status, answer.text]).toEqual([path, 401, '{"error":"sign in first"}']);
    }
  });
});

// PUBLIC-2
test('anonymous callers reach exactly these operations besides the open ones', () => {
  const reachable = all.filter(({ door }) => door === 'public').map(({ id }) => id);
  expect(reachable.sort()).toEqual(
    `
    countAssets exportAnnotatedPdf exportAssetAnnotations exportAssetSheet exportEdl exportFcpxml exportOtio exportPostAnnotations
    exportPostSheet getAsset getAssetFile getAssetMedia getAssetStream getAssetTile getAssetVariant getBaseMap getCollection
    getDrawing getField getLike getPost getPreviews getStack getSubtitles getTag getTimeline getUser getUserByUsername getWhiteboard
    getWhiteboardPng getWhiteboardSvg
    listAssetFieldValues listAssetTypes listAssets listCollectionFieldValues listCollectionItems listCollectionPosts
    listCollections listComments listDownloads listFeatured listFieldValues listFields listPeople listPlaces listPosts
    listPostsByAsset listRelatedAssets listReplies listSimilarAssets listTags listWhiteboards listWorkflowStates search searchByImage
    streamEvents suggest`
      .trim()
      .split(/\s+/),
  );
});

// PUBLIC-3
test('applies the switch at the next request, on every process', async () => {
  const second = await openSecond(library);
  const here = () => library.anonymous().send('/posts');
  const there = () => visit(second.address).send('/posts');
  try {
    for (const enabled of [true, false, true]) {
      await root.ok('setPublicMode', { body: { enabled } });
      expect([(await here()).status, (await there()).status]).toEqual(enabled ? [200, 200] : [401, 401]);
    }
  } finally {
    await second.close();
  }
});
