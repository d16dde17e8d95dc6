import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedConnection, startEmbedded } from '@vitrine/server/embedded';
import {
  cacheDir,
  corpusDirectory,
  joinDatabase,
  READER,
  readerCookie,
  type Spawned,
  spawnServer,
  spawnService,
} from '../library.ts';
import { type CountedLoad, load, median } from '../load.ts';
import { picture } from '../picture.ts';
import { postmasterOf } from '../postmaster.ts';
import { treeProcessorSeconds } from '../processor-time.ts';
import { referenceSql } from '../reference-sql.ts';
import {
  copyForDirectus,
  DIRECTUS,
  DIRECTUS_NODE,
  installDirectus,
  startDirectus,
  TOKEN,
} from './directus.ts';
import { type Compared, plot } from './plot.ts';

const LIMIT = 24;
const ROUNDS = 3;
const CONNECTIONS = 16;
const PICTURES = 24;
const PREVIEW_POLLED_MS = 10;

/** What a page of Vitrine shows of an asset, without what only Vitrine has. */
const assetFields = [
  'id,title,description,asset_type,status,sensitivity,mature,ai_provenance,metadata,state_id,processing_status,created_at,updated_at',
  'owner_user_ref.ref,owner_user_ref.username,owner_user_ref.display_name,owner_user_ref.fullname',
  'file_hash.hash,file_hash.extension,file_hash.size_bytes,file_hash.pixel_width,file_hash.pixel_height,file_hash.thumbhash',
  'tags.value,tags.source,tags.confidence,tags.position',
].flatMap((names) => names.split(','));
const postFields = [
  'id,title,description,visibility,cover_asset_id,draft,comments_enabled,state_id,posted_at,like_count,comment_count,tags,created_at,updated_at',
  'author_user_ref.ref,author_user_ref.username,author_user_ref.display_name,author_user_ref.fullname',
  'comments.id,comments.body,comments.created_at,comments.author_user_ref.ref,comments.author_user_ref.username,comments.author_user_ref.display_name',
  'members.sort_order',
]
  .flatMap((names) => names.split(','))
  .concat(assetFields.map((name) => `members.asset_id.${name}`));

/** The posts that a member may read, without the rules for followers, shares and files, which only Vitrine knows. */
const readable = JSON.stringify({
  _and: [
    { deleted_at: { _null: true } },
    { draft: { _eq: false } },
    { _or: [{ visibility: { _in: ['public', 'org-only'] } }, { author_user_ref: { _eq: READER } }] },
  ],
});

function items(collection: string, fields: readonly string[], query: Record<string, string>): string {
  const preview = collection.startsWith('posts')
    ? { 'deep[comments][_limit]': '3', 'deep[comments][_sort]': '-created_at' }
    : {};
  return `/items/${collection}?${new URLSearchParams({ ...query, ...preview, fields: fields.join(',') })}`;
}

interface System {
  name: string;
  service: Spawned;
  headers: Record<string, string>;
}

interface Page {
  name: string;
  vitrine: readonly string[];
  directus: readonly string[];
}

interface Measured extends CountedLoad {
  /** Milliseconds of processor time of a request: the service with its children, and PostgreSQL. */
  processor: number;
}

async function measure(
  { service, headers }: System,
  paths: readonly string[],
  seconds: number,
  postmaster: number,
): Promise<Measured> {
  const used = () => treeProcessorSeconds(service.child.pid ?? 0, postmaster);
  const before = await used();
  const result = await load(service.address, headers, seconds, { connections: CONNECTIONS, paths });
  return { ...result, processor: (((await used()) - before) * 1000) / result.requests };
}

function middle(all: readonly Measured[]): Measured {
  const of = (value: (one: Measured) => number) => median(all.map(value));
  return {
    requestsPerSecond: of((one) => one.requestsPerSecond),
    p50: of((one) => one.p50),
    p95: of((one) => one.p95),
    requests: of((one) => one.requests),
    processor: of((one) => one.processor),
  };
}

async function fetched({ service, headers }: System, path: string): Promise<Response> {
  const response = await fetch(service.address + path, { headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function bytesOf(system: System, path: string): Promise<number> {
  return (await (await fetched(system, path)).arrayBuffer()).byteLength;
}

interface UploadTimes {
  /** Milliseconds until the upload is acknowledged, and until its preview of 320 pixels is received. */
  acknowledged: number;
  previewed: number;
  previews: string[];
}

/** Uploads pictures one after another; `send` returns the path of the preview. */
async function upload(
  system: System,
  pictures: readonly Buffer[],
  send: (bytes: Buffer) => Promise<string>,
): Promise<UploadTimes> {
  const acknowledged: number[] = [];
  const previewed: number[] = [];
  const previews: string[] = [];
  for (const bytes of pictures) {
    const began = performance.now();
    const path = await send(bytes);
    acknowledged.push(performance.now() - began);
    while ((await fetch(system.service.address + path, { headers: system.headers })).status !== 200)
      await new Promise((resolve) => setTimeout(resolve, PREVIEW_POLLED_MS));
    previewed.push(performance.now() - began);
    previews.push(path);
  }
  return { acknowledged: median(acknowledged), previewed: median(previewed), previews };
}

async function sendForm(system: System, path: string, bytes: Buffer): Promise<string> {
  const body = new FormData();
  body.append('file', new File([Uint8Array.from(bytes)], 'picture.jpg', { type: 'image/jpeg' }));
  const init = { method: 'POST', headers: system.headers, body };
  const response = await fetch(system.service.address + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

async function sendToVitrine(system: System, bytes: Buffer): Promise<string> {
  const asset: { id: string; file_hash: string } = JSON.parse(
    await sendForm(system, '/api/v1/assets', bytes),
  );
  return `/api/v1/assets/${asset.id}/variants/col?v=${asset.file_hash}`;
}

async function sendToDirectus(system: System, bytes: Buffer): Promise<string> {
  const { data }: { data: { id: string } } = JSON.parse(await sendForm(system, '/files', bytes));
  return `/assets/${data.id}?width=320&height=320&fit=cover&format=webp`;
}

interface FeedPage {
  items: { id: string; members: { asset_id: string }[] }[];
}

/** Reads the first page of both, checks that both are full, and returns a post and an asset that both show. */
async function checkPages(
  vitrine: System,
  directus: System,
  feed: Page,
): Promise<{ post: string; asset: string }> {
  const ours: FeedPage = JSON.parse(await (await fetched(vitrine, feed.vitrine[0] ?? '')).text());
  const { data }: { data: { id: string; members: { asset_id: { id: string } | null }[] }[] } = JSON.parse(
    await (await fetched(directus, feed.directus[0] ?? '')).text(),
  );
  const members = data.flatMap((post) => post.members).filter(({ asset_id }) => asset_id !== null);
  if (ours.items.length !== LIMIT || data.length !== LIMIT || members.length < LIMIT)
    throw new Error(`the pages have ${ours.items.length} and ${data.length} posts`);
  const theirs = new Set(data.map(({ id }) => id));
  const common = ours.items.find(({ id, members: some }) => theirs.has(id) && some.length > 0);
  const asset = common?.members[0]?.asset_id;
  if (common === undefined || asset === undefined) throw new Error('the pages have no post in common');
  return { post: common.id, asset };
}

function cells(values: readonly (string | number)[]): string {
  return `| ${values.join(' | ')} |`;
}

function report(
  name: string,
  sizes: readonly [number, number],
  [one, other]: readonly [Measured, Measured],
): string {
  const numbers = ({ requestsPerSecond, p50, p95, processor }: Measured) =>
    [requestsPerSecond.toFixed(0), p50.toFixed(1), p95.toFixed(1), processor.toFixed(2)] as const;
  return cells([
    name,
    ...numbers(one),
    ...numbers(other),
    (one.requestsPerSecond / other.requestsPerSecond).toFixed(2),
    (other.processor / one.processor).toFixed(2),
    sizes.map((bytes) => (bytes / 1000).toFixed(1)).join(' and '),
  ]);
}

/** Measures both systems alternately. */
async function compare(
  [vitrine, directus]: readonly [System, System],
  page: Page,
  seconds: number,
  postmaster: number,
): Promise<readonly [Measured, Measured]> {
  await measure(vitrine, page.vitrine, 2, postmaster);
  await measure(directus, page.directus, 2, postmaster);
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await measure(vitrine, page.vitrine, seconds, postmaster));
    theirs.push(await measure(directus, page.directus, seconds, postmaster));
  }
  return [middle(ours), middle(theirs)];
}

async function measureAll(directory: string, posts: number, seconds: number): Promise<void> {
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const vitrine: System = { name: 'Vitrine', service, headers: { cookie: await readerCookie(database) } };
  const { rows } = await database.pool.query<{ server_version: string }>('show server_version');
  const connection = embeddedConnection(directory);
  await database.close();
  const postmaster = await postmasterOf(directory);
  const started = await startDirectus(connection, directory);
  const directus: System = {
    name: 'Directus',
    service: started,
    headers: { authorization: `Bearer ${TOKEN}` },
  };
  const reference = await spawnServer(
    [
      join(import.meta.dirname, '../reference-page.ts'),
      directory,
      referenceSql,
      JSON.stringify([READER, LIMIT]),
    ],
    {},
  );
  try {
    const feed: Page = {
      name: 'feed',
      vitrine: [`/api/v1/posts?limit=${LIMIT}`],
      directus: [
        items('posts', postFields, { limit: String(LIMIT), sort: '-posted_at,-id', filter: readable }),
      ],
    };
    const { post, asset } = await checkPages(vitrine, directus, feed);
    const search = (name: string, q: string): Page => ({
      name,
      vitrine: [`/api/v1/search?kind=post&limit=${LIMIT}&q=${q}`],
      directus: [items('posts', postFields, { limit: String(LIMIT), search: q, filter: readable })],
    });
    const pages: Page[] = [
      feed,
      {
        name: 'post',
        vitrine: [`/api/v1/posts/${post}`],
        directus: [items(`posts/${post}`, postFields, {})],
      },
      {
        name: 'asset',
        vitrine: [`/api/v1/assets/${asset}`],
        directus: [items(`assets/${asset}`, assetFields, {})],
      },
      search('search, rare number', '77777'),
      search('search, word of every post', 'happened'),
    ];
    const pictures = await Promise.all(Array.from({ length: PICTURES }, (_, seed) => picture(seed)));
    const sent = await upload(vitrine, pictures, (bytes) => sendToVitrine(vitrine, bytes));
    const received = await upload(directus, pictures, (bytes) => sendToDirectus(directus, bytes));
    pages.push({ name: 'preview of 320 pixels', vitrine: sent.previews, directus: received.previews });

    console.log(
      `\n${posts} posts, ${CONNECTIONS} connections, PostgreSQL ${rows[0]?.server_version}; Vitrine on Node ${process.versions.node}, Directus ${DIRECTUS} on Node ${DIRECTUS_NODE}`,
    );
    console.log(
      cells([
        'page',
        'Vitrine/s',
        'p50',
        'p95',
        'ms CPU',
        'Directus/s',
        'p50',
        'p95',
        'ms CPU',
        'ratio',
        'ratio of CPU',
        'kB',
      ]),
    );
    console.log(cells(Array.from({ length: 12 }, () => '---')));
    const compared: Compared[] = [];
    for (const page of pages) {
      const both = await compare([vitrine, directus], page, seconds, postmaster);
      const sizes = [
        await bytesOf(vitrine, page.vitrine[0] ?? ''),
        await bytesOf(directus, page.directus[0] ?? ''),
      ] as const;
      console.log(report(page.name, sizes, both));
      compared.push({ name: page.name, vitrine: both[0], directus: both[1] });
    }
    const hand = await load(reference.address, {}, seconds, { connections: CONNECTIONS });
    console.log(
      `the feed's page as one hand-written statement behind a bare Node server: ${hand.requestsPerSecond.toFixed(0)} a second, p50 ${hand.p50.toFixed(1)} ms, p95 ${hand.p95.toFixed(1)} ms`,
    );
    console.log(
      `uploading a picture: acknowledged after ${sent.acknowledged.toFixed(0)} ms (Directus ${received.acknowledged.toFixed(0)}), preview received after ${sent.previewed.toFixed(0)} ms (Directus ${received.previewed.toFixed(0)})`,
    );
    await writeFile(
      join(import.meta.dirname, '../../../docs/peers.svg'),
      plot(compared, `Directus ${DIRECTUS}`),
    );
  } finally {
    await reference.stop();
    await started.stop();
    await service.stop();
  }
}

/**
 * `bench peers`: compares Vitrine with Directus on the same PostgreSQL and the same rows, in one run. Writes the plot
 * of docs/performance.md.
 */
export async function benchPeers(posts: number, seconds: number): Promise<void> {
  await installDirectus();
  const corpus = await corpusDirectory(posts);
  const directory = await mkdtemp(join(cacheDir, 'peers-'));
  try {
    // As root, PostgreSQL runs as another user, which must be able to reach its directory.
    await chmod(directory, 0o755);
    await cp(corpus, directory, { recursive: true, preserveTimestamps: true });
    const server = await startEmbedded({ dataDir: directory, log: console.log });
    await copyForDirectus(server.connection);
    await server.stop();
    await measureAll(directory, posts, seconds);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
