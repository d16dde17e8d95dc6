import { parseArgs } from 'node:util';
import { benchAnnotations } from './annotations/annotations.ts';
import { benchBatches } from './batches.ts';
import { benchCsv } from './csv.ts';
import { benchFeed } from './feed.ts';
import { benchFeeds } from './feeds.ts';
import { benchFirstFrame } from './first-frame.ts';
import { benchGrowth } from './growth.ts';
import { benchIdentity } from './identity.ts';
import { benchImport } from './import.ts';
import { benchNotifications } from './notifications.ts';
import { benchPeers } from './peers/peers.ts';
import { benchPhone } from './phone.ts';
import { benchPosts } from './posts.ts';
import { benchRenditions } from './renditions.ts';
import { benchResourceSpace } from './resourcespace/resourcespace.ts';
import { benchRoots } from './roots.ts';
import { benchSearch } from './search.ts';
import { benchSelection } from './selection.ts';
import { benchStart } from './start.ts';
import { benchTeams } from './teams.ts';
import { benchUploads } from './uploads.ts';
import { benchVideo } from './video.ts';
import { benchZip } from './zip.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    posts: { type: 'string', default: '10000,100000' },
    seconds: { type: 'string', default: '6' },
    /** A library other than the cached one. The measured version migrates it. */
    directory: { type: 'string' },
    /** Size of the long film. */
    gigabytes: { type: 'string', default: '4' },
    /** Number of concurrent uploads. */
    uploads: { type: 'string', default: '200' },
    by: { type: 'string', default: 'form,tus' },
    /** Files below the root. */
    files: { type: 'string', default: '100000' },
    'per-folder': { type: 'string', default: '1000' },
    /** Number of assets that are loaded before they are selected. */
    assets: { type: 'string', default: '50000' },
    /** Another checkout, measured in turn with this one. */
    reference: { type: 'string' },
    /** Resources of the ResourceSpace that is imported. */
    resources: { type: 'string', default: '10000' },
  },
});

switch (positionals[0]) {
  case 'annotations':
    await benchAnnotations();
    break;
  case 'batches':
    await benchBatches(Number(values.seconds));
    break;
  case 'csv':
    await benchCsv();
    break;
  case 'feed':
    await benchFeed(values.posts.split(',').map(Number), Number(values.seconds));
    break;
  case 'feeds':
    if (values.directory === undefined)
      throw new Error('feeds writes into a library: give a copy by --directory');
    await benchFeeds(Number(values.seconds), values.directory);
    break;
  case 'first-frame':
    await benchFirstFrame(Number(values.gigabytes));
    break;
  case 'growth':
    await benchGrowth(values.posts.split(',').map(Number), Number(values.seconds));
    break;
  case 'identity':
    await benchIdentity(Number(values.seconds));
    break;
  case 'import':
    await benchImport();
    break;
  case 'notifications':
    await benchNotifications();
    break;
  case 'phone':
    await benchPhone();
    break;
  case 'peers':
    await benchPeers(100_000, Number(values.seconds));
    break;
  case 'posts':
    await benchPosts();
    break;
  case 'renditions':
    await benchRenditions(Number(values.seconds), values.reference);
    break;
  case 'resourcespace':
    await benchResourceSpace(Number(values.resources));
    break;
  case 'roots':
    await benchRoots(Number(values.files), Number(values['per-folder']));
    break;
  case 'search':
    for (const posts of values.posts.split(',').map(Number))
      await benchSearch(posts, Number(values.seconds), values.directory);
    break;
  case 'selection':
    await benchSelection(Number(values.assets));
    break;
  case 'start':
    await benchStart();
    break;
  case 'teams':
    await benchTeams(Number(values.seconds));
    break;
  case 'uploads':
    await benchUploads(Number(values.uploads), values.by.split(','));
    break;
  case 'zip':
    await benchZip();
    break;
  case 'video':
    await benchVideo();
    break;
  default:
    console.log(
      'npm run bench -- annotations | batches | csv | feed [--posts 10000,100000,1000000] [--seconds 6] | feeds --directory copy | first-frame [--gigabytes 4] | growth [--posts 10000,100000,1000000] | identity | import | notifications | peers | phone | posts | renditions [--reference checkout] | resourcespace [--resources 10000] | roots [--files 100000] [--per-folder 1000] | search [--directory copy] | selection [--assets 50000] | start | teams | uploads [--uploads 200] [--by form,tus] | video | zip',
    );
}
