import type { CardField } from '@vitrine/contract/field-values';
import { type About, aboutPortion, assetFields, isToldReference } from '../described-world.ts';
import type { AssetCell } from '../due.ts';
import type { CallerKind } from '../matrix.ts';
import { labelOfAsset, together } from '../send-requests.ts';
import type { Caller } from '../world.ts';

/** The values on cards (VALUE-18): on every visible asset wherever it is shown, and on no other. */

interface Seen {
  id: string;
  isShown: boolean;
  cardFields: CardField[] | undefined;
}

/** Returns every asset and placeholder in a response. */
function assetsIn(value: unknown): Seen[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(assetsIn);
  const inside = Object.values(value).flatMap(assetsIn);
  if (!('restricted' in value)) return inside;
  const id = 'id' in value ? value.id : 'asset_id' in value ? value.asset_id : undefined;
  // The member that contains a visible asset has no values itself.
  if (typeof id !== 'string' || 'asset' in value) return inside;
  const cardFields: CardField[] | undefined =
    'card_fields' in value && Array.isArray(value.card_fields) ? value.card_fields : undefined;
  return [{ id, isShown: value.restricted === false, cardFields }, ...inside];
}

function dueOnCard(about: About, who: CallerKind, asset: AssetCell): string {
  const { onCard, cardReference } = about.fields;
  const reference = isToldReference(about, who, asset) ? [`${cardReference.code} quokka plover`] : [];
  return [`${onCard.code} ${assetFields.onCard.word}`, ...reference].sort().join();
}

export async function lookAtCards(about: About) {
  const { world, ledger, callers } = about;
  const cells = new Map(world.assets.map((asset) => [asset.id, asset]));
  const some = world.assets.filter((_, index) => index % 193 === 0);
  const sample = world.posts.filter(({ tag }) => tag === 'gallery').filter((_, index) => index % 3 === 0);
  const first = '/assets?limit=200';
  const paths = [
    '/posts?tag=gallery&limit=200',
    '/posts?limit=50&sort=oldest',
    '/assets?limit=60&sort=oldest&q=quokka',
    '/search?kind=asset&limit=40&q=bilby',
    '/search?kind=post&limit=40&q=heron',
    `/collections/${world.collections[0]?.id}/posts?limit=40`,
    ...sample.map(({ id }) => `/posts/${id}`),
    ...some.flatMap(({ id }) => [`/assets/${id}`, `/posts/by-asset/${id}`, `/assets/${id}/posts`]),
  ];
  const look = async (caller: Caller, path: string) => {
    const { status, text } = await caller.visitor.send(path);
    if (status !== 200) return 0;
    const seen = assetsIn(JSON.parse(text));
    for (const { id, isShown, cardFields } of seen) {
      const asset = cells.get(id);
      if (asset === undefined) continue;
      const got =
        cardFields
          ?.map(({ code, value }) => `${code} ${value}`)
          .sort()
          .join() ?? 'none';
      const due = isShown ? dueOnCard(about, caller.kind, asset) : 'none';
      ledger.hold(() => `${caller.name}: ${path}: card of ${labelOfAsset(asset)}`, got, due);
    }
    return seen.length;
  };
  await together(callers, async (caller) => {
    let seen = 0;
    for (const path of [first, ...aboutPortion(caller, paths)]) seen += await look(caller, path);
    const isLetIn =
      caller.scopes === null || caller.scopes.some((scope) => scope === 'read' || scope === 'admin');
    ledger.hold(`${caller.name}: cards were seen`, seen > 40, isLetIn);
  });
}
