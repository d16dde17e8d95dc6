import { createHash, randomUUID } from 'node:crypto';
import type { LinkView } from '@vitrine/contract/link-visits';
import { type AssetCell, answerOf, type CollectionCell, type PostCell } from '../due.ts';
import { labelOfAsset, labelOfCollection, labelOfPost, together } from '../send-requests.ts';
import { asksAll, type Matrix } from '../setting.ts';

/** What visitors see through links to every post, asset and collection of the matrix. */

type Cell = {
  column: 'post_id' | 'asset_id' | 'collection_id';
  id: string;
  label: string;
  due: readonly string[] | null;
};

const tokenOf = (id: string, kind: string) =>
  createHash('sha256').update(`${kind} ${id}`).digest('hex').slice(0, 32);

const stands = (asset: AssetCell) =>
  !asset.deleted && asset.status === 'active' && asset.processing !== 'failed' && !asset.mature;

/** LINK-7: members of the post's author or team that follow their posts or are public, and are not mature. */
function passesOn({ world }: Matrix, post: PostCell, asset: AssetCell): boolean {
  const owner = world.refs[asset.owner];
  const ofAuthor = owner !== null && owner === world.refs[post.author];
  const ofTeam = post.team !== 'none' && post.team === asset.team;
  return stands(asset) && ['posts', 'public'].includes(asset.sensitivity) && (ofAuthor || ofTeam);
}

/** LINK-22: files that everyone sees, and those of the owner of the collection that follow posts. */
function isPlacedFor({ world }: Matrix, collection: CollectionCell, asset: AssetCell): boolean {
  const owner = world.refs[collection.owner];
  const isOwn = owner !== null && owner === world.refs[asset.owner];
  const isOpen = answerOf('anonymous', asset) === 'shown';
  return stands(asset) && (isOpen || (isOwn && ['posts', 'public'].includes(asset.sensitivity)));
}

const published = ({ deleted, draft }: PostCell) => !deleted && !draft;

function throughPosts(matrix: Matrix, posts: readonly PostCell[]): string[] {
  return posts.flatMap((post) =>
    post.members.filter((asset) => passesOn(matrix, post, asset)).map(({ id }) => id),
  );
}

function ofPost(matrix: Matrix, post: PostCell): Cell {
  const due = published(post) ? throughPosts(matrix, [post]) : null;
  return { column: 'post_id', id: post.id, label: labelOfPost(post), due };
}

/** A link to an asset is explicit: it shows any sensitivity, but no mature content and no failed file (LINK-8). */
function ofAsset(asset: AssetCell): Cell {
  const due = asset.deleted || asset.mature || asset.processing === 'failed' ? null : [asset.id];
  return { column: 'asset_id', id: asset.id, label: labelOfAsset(asset), due };
}

export function ofCollection(matrix: Matrix, collection: CollectionCell): Cell {
  const owner = matrix.world.refs[collection.owner];
  const posts = collection.posts.filter((post) => {
    const own = owner !== null && owner === matrix.world.refs[post.author];
    return published(post) && (post.visibility === 'public' || own);
  });
  const files = collection.files
    .filter((asset) => isPlacedFor(matrix, collection, asset))
    .map(({ id }) => id);
  const isOpen = !collection.deleted && !collection.expired;
  const due = isOpen ? [...throughPosts(matrix, posts), ...files] : null;
  return { column: 'collection_id', id: collection.id, label: labelOfCollection(collection), due };
}

/** Tests one cell in 47, because each takes several statements; `ACCESS_MATRIX=all` tests every cell. */
const PART = asksAll ? 1 : 47;

/** GUEST-5, GUEST-7, GUEST-9: what a guest of the link may write about a file that it shows, or does not show. */
async function writeAsGuest(
  { world, ledger }: Matrix,
  token: string,
  id: string,
  label: string,
  shown: boolean,
) {
  const link = `/links/${token}`;
  const visitor = world.library.anonymous();
  const named = await visitor.send(`${link}/guest`, { method: 'POST', body: { name: 'Guest' } });
  const headers = { cookie: named.headers.get('set-cookie')?.split(';')[0] ?? '' };
  const about = { asset_id: id, anchor: { kind: 'point', x: 0, y: 0 }, body: 'x' };
  const decided = { decision: 'approved', assets: [{ asset_id: id, decision: 'approved' }] };
  for (const [method, path, body, status] of [
    ['PUT', `picks/${id}`, undefined, 200],
    ['POST', 'comments', { asset_id: id, body: 'x' }, 201],
    ['POST', 'annotations', about, 201],
    ['POST', 'decide', decided, 200],
  ] as const) {
    const sent = { method, headers, ...(body === undefined ? {} : { body }) };
    const answer = await visitor.send(`${link}/${path}`, sent);
    ledger.hold(`guest of ${label}: ${path}`, answer.status, shown ? status : 404);
  }
}

/** Links of an administrator, who may edit all cells: plain, with a password, and expired. */
export async function lookThroughLinks(matrix: Matrix): Promise<void> {
  const { world, ledger } = matrix;
  const { db } = world.library.deps;
  const creator = world.refOf('system.admin');
  const part = <T>(all: readonly T[]) => all.filter((_, index) => index % PART === 0);
  const following = world.posts.filter(({ tag }) => tag === 'follows');
  const posts = new Set([...world.sample.slice(0, 15), ...following, ...part(world.posts)]);
  const cells = [
    ...[...posts].map((post) => ofPost(matrix, post)),
    ...part(world.assets).map(ofAsset),
    ...world.collections.map((collection) => ofCollection(matrix, collection)),
  ];
  const password = await world.library.deps.passwords.hash('any', 'boat');
  const kinds = [
    { kind: 'plain', allow_feedback: true, allow_picks: true },
    { kind: 'password', password_hash: password },
    { kind: 'expired', expires_at: new Date(Date.now() - 1000).toISOString() },
  ] as const;
  for (const { kind, ...terms } of kinds) {
    const rows = cells.map(({ column, id }) => ({
      ...terms,
      id: randomUUID(),
      token_hash: createHash('sha256').update(tokenOf(id, kind)).digest(),
      [column]: id,
      created_by_user_ref: creator,
    }));
    for (let at = 0; at < rows.length; at += 1000) {
      await db
        .insertInto('share_links')
        .values(rows.slice(at, at + 1000))
        .execute();
    }
  }
  const visitor = world.library.anonymous();
  await together(cells, async ({ id, label, due }) => {
    const { status, text } = await visitor.send(`/links/${tokenOf(id, 'plain')}?limit=200`);
    ledger.hold(`link: ${label}: status`, status, due === null ? 404 : 200);
    if (status === 200) {
      const view: LinkView = JSON.parse(text);
      const seen = view.items.map((item) => item.id);
      ledger.hold(`link: ${label}: assets`, seen.toSorted().join(' '), (due ?? []).toSorted().join(' '));
    }
    const locked = await visitor.send(`/links/${tokenOf(id, 'password')}`);
    ledger.hold(`link with a password: ${label}`, locked.status, due === null ? 404 : 401);
  });
  const follow = async (id: string, kind: string) =>
    (await visitor.send(`/links/${tokenOf(id, kind)}/events`, { method: 'HEAD' })).status;
  await together(cells.slice(0, 20), async ({ id, label, due }) => {
    const { status } = await visitor.send(`/links/${tokenOf(id, 'expired')}`);
    ledger.hold(`expired link: ${label}`, status, 404);
    // GUEST-13
    const [plain, locked] = due === null ? [404, 404] : [200, 401];
    ledger.hold(`link: ${label}: events`, await follow(id, 'plain'), plain);
    ledger.hold(`link with a password: ${label}: events`, await follow(id, 'password'), locked);
    ledger.hold(`expired link: ${label}: events`, await follow(id, 'expired'), 404);
  });
  // Bytes: requests assets through links that show them, and assets that only other links show.
  const publicPosts = world.posts.filter((post) => published(post) && post.visibility === 'public');
  const inPosts = new Set(throughPosts(matrix, publicPosts));
  const elsewhere: ((asset: AssetCell) => boolean)[] = [
    ({ id }) => inPosts.has(id),
    (asset) => answerOf('anonymous', asset) === 'shown',
    ({ id }) => !inPosts.has(id),
  ];
  const open = cells.filter(({ due }) => due !== null && due.length > 0);
  ledger.hold('links that show files', open.length > 30, true);
  const shown = [
    ...open.filter(({ column }) => column === 'post_id').slice(0, 15),
    ...open.filter(({ column }) => column === 'collection_id').slice(0, 5),
  ];
  await together(shown, async ({ id, label, due }) => {
    const link = `/links/${tokenOf(id, 'plain')}`;
    const hidden = world.assets.filter((asset) => due?.includes(asset.id) !== true);
    const others = [...new Set(elsewhere.flatMap((isThere) => hidden.find(isThere) ?? []))];
    for (const asset of others) {
      for (const path of ['file', 'media', 'tiles/0/0_0', 'subtitles/de']) {
        const { status } = await visitor.send(`${link}/assets/${asset.id}/${path}`);
        ledger.hold(`link: ${label}: ${path} of ${labelOfAsset(asset)}`, status, 404);
      }
      const { status } = await visitor.send(`${link}/assets/${asset.id}/view`, { method: 'POST' });
      ledger.hold(`link: ${label}: view of ${labelOfAsset(asset)}`, status, 404);
    }
    for (const { id: other } of others.slice(0, 1))
      await writeAsGuest(matrix, tokenOf(id, 'plain'), other, label, false);
    for (const one of (due ?? []).slice(0, 1))
      await writeAsGuest(matrix, tokenOf(id, 'plain'), one, label, true);
    for (const one of (due ?? []).slice(0, 2)) {
      // The link shows it, but provides no originals and therefore no tiles.
      for (const [path, expected] of [
        ['file', 403],
        ['tiles/0/0_0', 403],
        ['media', 200],
      ] as const) {
        const { status } = await visitor.send(`${link}/assets/${one}/${path}`);
        ledger.hold(`link: ${label}: ${path}`, status, expected);
      }
    }
  });
}
