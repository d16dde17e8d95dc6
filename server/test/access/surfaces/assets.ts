import { must } from '../cells.ts';
import {
  type AssetCell,
  answerOf,
  dueAsset,
  dueWithheld,
  editsAsset,
  isServed,
  owns,
  type Switches,
} from '../due.ts';
import { type CallerKind, undoAnyDelete } from '../matrix.ts';
import { lookOfAsset, type SeenAsset } from '../responses.ts';
import {
  accountDoor,
  adminDoor,
  assetDoor,
  changingAsset,
  everyItem,
  labelOfAsset,
  type Probe,
  pathsOf,
  probe,
  readDoor,
  refusalOf,
} from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';
import { BOX, DAY, MONTH } from './browsing.ts';

/** Assets in lists, single assets, and their bytes. */

interface Shelf {
  query: string;
  cells: readonly AssetCell[];
  /** Filters read columns, so they find only visible assets. */
  filtered: boolean;
  withTrash?: boolean;
  /** Of each stack only the first asset that the caller is shown. */
  tops?: boolean;
}

/** The ids of the stack of an asset that the caller is shown, the top first; undefined unless there are two (STACK-2). */
function dueStack(who: CallerKind, cell: AssetCell): string | undefined {
  const { id, related } = cell;
  if (related === undefined) return undefined;
  const isWhole = [cell, related].every((one) => answerOf(who, one) === 'shown');
  return isWhole ? [id, related.id].toSorted().join() : undefined;
}

/** STACK-3: whether an asset is in a list of tops without filters. */
function standsForStack(who: CallerKind, cell: AssetCell): boolean {
  const answer = answerOf(who, cell);
  const { id, related } = cell;
  if (related === undefined) return answer !== 'missing';
  return answer === 'shown' && (id < related.id || answerOf(who, related) !== 'shown');
}

export async function lookAtShelf(matrix: Matrix, caller: Caller, shelf: Shelf, switches: Switches) {
  const items = await everyItem<SeenAsset & { stack?: { assets: string[] } }>(
    matrix.ledger,
    caller,
    '/assets',
    shelf.query,
    switches,
  );
  if (items === null) return;
  const who = caller.kind;
  const seesTrash = shelf.withTrash === true && undoAnyDelete.includes(who);
  const stackOf = new Map(items.map(({ id, stack }) => [id, stack?.assets.join()]));
  const seen = new Map(items.map(({ stack: _, ...item }) => [item.id, lookOfAsset(item)]));
  let due = 0;
  for (const cell of shelf.cells) {
    const answer = seesTrash ? 'shown' : answerOf(who, cell);
    const isListed = answer === 'shown' || (answer === 'withheld' && !shelf.filtered);
    const isThere = shelf.tops === true ? standsForStack(who, cell) : isListed;
    const look = answer === 'shown' ? dueAsset(who, cell, switches) : dueWithheld(who, cell);
    const label = () => `${caller.name}: /assets?${shelf.query}: ${labelOfAsset(cell)}`;
    matrix.ledger.hold(label, seen.get(cell.id) ?? 'absent', isThere ? look : 'absent');
    if (isThere) due += 1;
    if (shelf.tops === true && isThere)
      matrix.ledger.hold(`${label()}: stack`, stackOf.get(cell.id), dueStack(who, cell));
  }
  matrix.ledger.hold(`${caller.name}: /assets?${shelf.query}: how many, each once`, items.length, due);
  if (!shelf.filtered) return;
  const counted = await caller.visitor.send(`/assets/count?${shelf.query}`);
  const { total }: { total: number } = JSON.parse(counted.text);
  matrix.ledger.hold(`${caller.name}: /assets/count?${shelf.query}`, total, due);
}

export function filteredShelves(matrix: Matrix): Shelf[] {
  const where = (rule: (asset: AssetCell) => boolean) => matrix.world.assets.filter(rule);
  return [
    { query: 'tag=matrix&sort=oldest', cells: matrix.world.assets, filtered: true },
    { query: 'sort=title', cells: matrix.world.assets, filtered: true },
    { query: 'tag=matrix&sort=largest', cells: matrix.world.assets, filtered: true },
    {
      query: `team_id=${matrix.world.teamIds.get('team')}&asset_type=1`,
      cells: where(({ team }) => team === 'team'),
      filtered: true,
    },
    { query: 'status=draft', cells: where(({ status }) => status === 'draft'), filtered: true },
    {
      query: `owner_ref=${matrix.world.refs.hidden}`,
      cells: where(({ owner }) => owner === 'hidden'),
      filtered: true,
    },
    { query: `taken_month=${MONTH}&sort=taken`, cells: matrix.world.assets, filtered: true },
    { query: `taken_day=${DAY}&bbox=${BOX}`, cells: matrix.world.assets, filtered: true },
    { query: 'stacks=top', cells: matrix.world.assets, filtered: false, tops: true },
    { query: 'include_deleted=true', cells: matrix.world.assets, filtered: false, withTrash: true },
  ];
}

/** A file whose content is checked, and refused, only if the caller may edit the asset. */
function notSubtitles(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['no subtitles']), 'a.srt');
  return form;
}

/** A file of no kind, which can be no version of any other. */
function nothing(): FormData {
  const form = new FormData();
  form.append('file', new Blob([]), 'nothing');
  return form;
}

const relating = (who: CallerKind, asset: AssetCell) => {
  const isShown = asset.related !== undefined && answerOf(who, asset.related) === 'shown';
  return asset.related === undefined ? 400 : changingAsset(who, asset, isShown ? 204 : 404);
};

/** The assets of the stack of an asset. */
const pairOf = (asset: AssetCell) => (asset.related === undefined ? [] : [asset, asset.related]);

/** The stack of an asset has the id of its top. */
function stackPath(asset: AssetCell): string {
  const [top = '00000000-0000-4000-8000-0000000000ff'] = pairOf(asset)
    .map(({ id }) => id)
    .toSorted();
  return `/stacks/${top}`;
}

/** Every operation on an asset that, if allowed, changes nothing except for adding a request. */
export function assetProbes(): Probe<AssetCell>[] {
  const below = pathsOf('/assets');
  const editing = (done: number) => (who: CallerKind, asset: AssetCell) => changingAsset(who, asset, done);
  const versioned = (done: number) => (who: CallerKind, asset: AssetCell) =>
    editsAsset(who, asset) ? done : 404;
  return [
    probe(assetDoor, 'PATCH', below(''), editing(200), { body: {} }),
    probe(assetDoor, 'PUT', below('/subtitles/fr'), editing(400), { bodyOf: notSubtitles }),
    probe(assetDoor, 'DELETE', below('/subtitles/fr'), editing(404)),
    // VERSION-3: versions exist only for those who may edit the asset.
    probe(accountDoor, 'GET', below('/versions'), versioned(200)),
    // An empty file is a version of another file without previews.
    probe(
      assetDoor,
      'POST',
      below('/versions'),
      (who, asset) => (asset.rendered === 'nothing' ? null : versioned(409)(who, asset)),
      { bodyOf: nothing },
    ),
    probe(assetDoor, 'POST', below('/versions/1/restore'), versioned(409)),
    probe(assetDoor, 'DELETE', below('/versions/1'), versioned(409)),
    // A failed asset would be rendered again.
    probe(assetDoor, 'POST', below('/reprocess'), (who, asset) =>
      editsAsset(who, asset) && asset.processing === 'failed' ? null : changingAsset(who, asset, 200),
    ),
    probe(adminDoor, 'POST', below('/request-access'), (who, asset) => {
      if (answerOf(who, asset) === 'missing') return 404;
      return owns(who, asset) ? 400 : [200, 201];
    }),
    // RELATED-1: placeholders have no relations.
    probe(readDoor, 'GET', below('/related'), (who, asset) => (answerOf(who, asset) === 'shown' ? 200 : 404)),
    // BROWSE-8
    probe(readDoor, 'GET', below('/similar'), (who, asset) => (answerOf(who, asset) === 'shown' ? 200 : 404)),
    // RELATED-2: relating files again changes nothing, but both must be shown.
    probe(assetDoor, 'PUT', ({ id, related }) => `/assets/${id}/related/${related?.id ?? id}`, relating),
    // STACK-2
    probe(readDoor, 'GET', stackPath, (who, asset) =>
      pairOf(asset).some((one) => answerOf(who, one) === 'shown') ? 200 : 404,
    ),
    // STACK-4: what is on top already stays there.
    probe(
      assetDoor,
      'PUT',
      (asset) => `${stackPath(asset)}/top`,
      (who, asset) =>
        asset.related === undefined || asset.id > asset.related.id ? null : changingAsset(who, asset, 200),
      { bodyOf: ({ id }: AssetCell) => ({ asset_id: id }) },
    ),
    probe(
      assetDoor,
      'POST',
      () => '/stacks',
      (who, asset) => {
        const pair = pairOf(asset);
        if (pair.length < 2) return null;
        if (pair.some((one) => answerOf(who, one) === 'missing')) return 404;
        return pair.every((one) => editsAsset(who, one)) ? null : 403;
      },
      { bodyOf: (asset: AssetCell) => ({ asset_ids: pairOf(asset).map(({ id }) => id) }) },
    ),
    // STACK-5
    probe(assetDoor, 'DELETE', stackPath, (who, asset) => {
      const pair = pairOf(asset);
      if (!pair.some((one) => answerOf(who, one) === 'shown')) return 404;
      return pair.filter(({ deleted }) => !deleted).every((one) => editsAsset(who, one)) ? null : 403;
    }),
    probe(assetDoor, 'DELETE', below('/related/00000000-0000-4000-8000-0000000000ff'), editing(204)),
  ];
}

export async function lookAtAsset(matrix: Matrix, caller: Caller, cell: AssetCell, switches: Switches) {
  const { status, text } = await caller.visitor.send(`/assets/${cell.id}`);
  const who = caller.kind;
  const { related, stack, ...asset }: SeenAsset & { related?: string[]; stack?: { assets: string[] } } =
    status === 200 ? JSON.parse(text) : {};
  const got = status === 200 ? lookOfAsset(asset) : status;
  const looks = {
    missing: 404,
    withheld: dueWithheld(who, cell),
    shown: dueAsset(who, cell, switches),
  };
  const due = refusalOf(caller, readDoor, switches) ?? looks[answerOf(who, cell)];
  matrix.ledger.hold(`${caller.name}: GET /assets/{id}: ${labelOfAsset(cell)}`, got, due);
  // RELATED-1: a relation shows nobody a file that they do not see otherwise.
  const seen = cell.related !== undefined && answerOf(who, cell.related) === 'shown' ? cell.related.id : '';
  const dueRelated = status === 200 && !asset.restricted ? seen : undefined;
  matrix.ledger.hold(`${caller.name}: related of ${labelOfAsset(cell)}`, related?.join(), dueRelated);
  // STACK-2
  const dueStacked = status === 200 && !asset.restricted ? dueStack(who, cell) : undefined;
  matrix.ledger.hold(`${caller.name}: stack of ${labelOfAsset(cell)}`, stack?.assets.join(), dueStacked);
}

/** The requested renditions, and what must have been rendered for each; null for those that are not rendered. */
const renditions = [
  { path: 'variants/col', of: ['all', 'col'] },
  { path: 'variants/hires', of: ['all'] },
  { path: 'variants/sprites.vtt', of: ['all'] },
  { path: 'variants/hls/master.m3u8', of: ['all'] },
  { path: 'tiles/0/0_0', of: ['all'] },
  { path: 'subtitles/de', of: null },
] as const;

/** `*` matches any version: 304 means that the bytes would be served, without sending them. */
const unchanged = { headers: { 'if-none-match': '*' } };

/** `sent`: requests the bytes. `known`: requests only whether they would be served. Alternates between renditions. */
export async function lookAtBytes(
  matrix: Matrix,
  caller: Caller,
  cell: AssetCell,
  switches: Switches,
  how: 'sent' | 'known',
  turn = 0,
) {
  const who = caller.kind;
  const refusal = refusalOf(caller, readDoor, switches);
  const served = isServed(who, cell, switches);
  const hold = async (path: string, isThere: boolean, as: 'sent' | 'known' = how) => {
    const { status } = await caller.visitor.send(
      `/assets/${cell.id}/${path}`,
      as === 'sent' ? {} : unchanged,
    );
    const done = as === 'sent' ? 200 : 304;
    matrix.ledger.hold(
      `${caller.name}: ${path}: ${labelOfAsset(cell)}`,
      status,
      refusal ?? (isThere ? done : 404),
    );
  };
  const { path, of } = must(renditions[turn % renditions.length], 'rendition');
  const isMade = of === null || of.some((one) => one === cell.rendered);
  await hold(path, served && isMade, path === 'variants/col' ? how : 'known');
  await hold('file', served);
  await hold('file?version=1', editsAsset(who, cell) && served, 'known');
  if (how === 'known') return;
  const { status } = await caller.visitor.send(`/assets/${cell.id}/media`);
  matrix.ledger.hold(`${caller.name}: media: ${labelOfAsset(cell)}`, status, refusal ?? (served ? 200 : 404));
}
