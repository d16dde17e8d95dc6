import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

const srt = '1\n00:00:01,000 --> 00:00:02,000\nThe light is lovely.\n';

function form(content: string, label: string): FormData {
  const body = new FormData();
  body.append('label', label);
  body.append('file', new Blob([content]), 'subtitles.srt');
  return body;
}

describe('subtitles of a shared video', () => {
  let harbour: Install;
  let studio: Install;
  let peers: { peerOfOne: string; peerOfOther: string };
  let asset: string;
  let post: string;

  beforeAll(async () => {
    harbour = await openInstall('Harbour');
    studio = await openInstall('Studio');
    peers = await pair(harbour, studio);
    const video = await upload(harbour.root, plainFile('takes'), { title: 'Take', sensitivity: 'posts' });
    asset = video.id;
    await harbour.root.ok('putSubtitles', { params: { id: asset, lang: 'en' }, body: form(srt, 'English') });
    post = (await publish(harbour.root, [video], { title: 'Take' })).id;
    await harbour.root.ok('putPostPeer', { params: { id: post, peer_id: peers.peerOfOne }, body: {} });
    await settle(harbour, studio);
  });

  const mirrored = async () => {
    const [shown] = (await studio.root.ok('listPosts')).items;
    const id = shown?.members[0]?.asset_id ?? '';
    const mirror = await studio.root.ok('getAsset', { params: { id } });
    return { id, tracks: mirror.restricted ? [] : mirror.subtitle_tracks };
  };
  const textAt = async (install: Install, id: string, lang: string) => {
    const { status, text } = await install.root.send(`/assets/${id}/subtitles/${lang}`);
    return { status, text };
  };

  // FED-66
  test('arrive with it and are served under the rules of the receiver', async () => {
    expect((await studio.root.ok('listFederationRejections')).items).toEqual([]);
    const { id, tracks } = await mirrored();
    expect(tracks).toMatchObject([{ lang: 'en', label: 'English', source_format: 'srt', confidence: 1 }]);
    const there = await textAt(studio, id, 'en');
    expect(there).toEqual(await textAt(harbour, asset, 'en'));
    expect(there.text).toContain('The light is lovely.');
    const { rows } = await sql<{ hash: string }>`select file_hash as hash from subtitles`.execute(
      harbour.database.db,
    );
    expect(createHash('sha256').update(there.text).digest('hex')).toBe(rows[0]?.hash);
  });

  // FED-66
  test('follow changes at the origin', async () => {
    const german = srt.replace('The light is lovely.', 'Das Licht ist schön.');
    await harbour.root.ok('putSubtitles', {
      params: { id: asset, lang: 'de' },
      body: form(german, 'Deutsch'),
    });
    await harbour.root.ok('deleteSubtitles', { params: { id: asset, lang: 'en' } });
    await settle(harbour, studio);
    const { id, tracks } = await mirrored();
    expect(tracks.map(({ lang }) => lang)).toEqual(['de']);
    expect((await textAt(studio, id, 'de')).text).toContain('Das Licht');
    expect((await textAt(studio, id, 'en')).status).toBe(404);
  });

  // FED-66
  test('are taken only from the peer, not from the private files of the receiver', async () => {
    const secret = srt.replace('The light is lovely.', 'Nobody else may read this.');
    const own = await upload(studio.root, plainFile('own'), { sensitivity: 'restricted' });
    await studio.root.ok('putSubtitles', { params: { id: own.id, lang: 'en' }, body: form(secret, '') });
    const { rows } = await sql<{
      file_hash: string;
      size_bytes: number;
    }>`select file_hash, size_bytes from subtitles
      where asset_id = ${own.id}`.execute(studio.database.db);
    const [known] = rows;
    // The peer names a hash that it does not have.
    await sql`update subtitles set file_hash = ${known?.file_hash}, size_bytes = ${known?.size_bytes}
      where asset_id = ${asset}`.execute(harbour.database.db);
    await harbour.root.ok('updateAsset', { params: { id: asset }, body: { title: 'Take 2' } });
    await settle(harbour, studio).catch(() => undefined);
    const { id } = await mirrored();
    expect((await textAt(studio, id, 'de')).text).not.toContain('Nobody else');
  });

  // FED-33, FED-66
  test('are purged with it', async () => {
    await harbour.root.ok('deletePostPeer', { params: { id: post, peer_id: peers.peerOfOne } });
    await sql`delete from graphile_worker._private_jobs where task_id = (
      select id from graphile_worker._private_tasks where identifier = 'fetch-subtitles')`.execute(
      studio.database.db,
    );
    await settle(harbour, studio);
    const { rows } = await sql<{
      left: number;
    }>`select (select count(*) from subtitles s join assets a on a.id = s.asset_id
      where a.origin_peer_id is not null) + (select count(*) from federated_subtitles) as left`.execute(
      studio.database.db,
    );
    expect(rows).toEqual([{ left: 0 }]);
    const objects = [];
    for await (const { key } of studio.deps.storage.list('subtitles')) objects.push(key);
    expect(objects).toHaveLength(1);
  });
});
