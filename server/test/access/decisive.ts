import { type AssetCell, answerOf, editsAsset, isServed } from './due.ts';
import type { CallerKind } from './matrix.ts';

/**
 * Chooses the cells to request individually. Lists are compared with every cell; a request for a single asset only has
 * to prove that its handler applies the same rule. Cells in which a single property decides prove it: if two properties
 * hide an asset, the test does not notice a handler that forgets one of them.
 */

type Properties = Readonly<Record<string, string>>;

/** The properties of a cell that the rules use, and the expected outcome for this caller. */
interface Case {
  cell: AssetCell;
  properties: Properties;
  outcome: string;
  isHidden: boolean;
}

/** The state of an asset and of the post it follows. Each asset that follows several posts is unique. */
function propertiesOf(cell: AssetCell): Properties {
  const { id, status, processing, sensitivity, mature, deleted, team, owner, rendered, share, usedBy } = cell;
  const follows = sensitivity === 'posts' ? usedBy : [];
  const [post] = follows;
  return {
    team,
    status,
    processing,
    sensitivity,
    mature: String(mature),
    deleted: String(deleted),
    owner,
    rendered,
    share: String(share),
    posts: follows.length > 1 ? id : String(follows.length),
    as: post?.thumbnail === cell ? 'thumbnail' : 'member',
    visibility: String(post?.visibility),
    draft: String(post?.draft),
    'post deleted': String(post?.deleted),
    'post team': String(post?.team),
    author: String(post?.author),
    unshared: String(post?.unshared),
  };
}

const withoutOne = (properties: Properties, name: string) =>
  Object.entries(properties)
    .map(([key, value]) => (key === name ? '*' : value))
    .join('|');

/**
 * Returns what a request for each cell proves: for a visible asset, that each of its properties leaves it visible; for a
 * hidden one, each property that alone hides it. Both for every team and every kind of share.
 */
function evidenceOf(cases: readonly Case[]): string[][] {
  const names = Object.keys(cases[0]?.properties ?? {});
  const visible = new Map<string, Case[]>();
  for (const one of cases) {
    if (one.isHidden) continue;
    for (const name of names) {
      const key = `${name}: ${withoutOne(one.properties, name)}`;
      visible.set(key, [...(visible.get(key) ?? []), one]);
    }
  }
  return cases.map(({ properties, outcome, isHidden }) =>
    names.flatMap((name) => {
      const value = `${name} ${properties[name]}, team ${properties.team}, share ${properties.share}`;
      if (!isHidden) return [`${outcome}: ${value}`];
      const neighbours = visible.get(`${name}: ${withoutOne(properties, name)}`) ?? [];
      return neighbours.map((neighbour) => `not ${neighbour.properties[name]}: ${value}`);
    }),
  );
}

/** Returns a few cells, chosen greedily, that prove as much as all of them. */
function fewest(cases: readonly Case[]): AssetCell[] {
  const evidence = evidenceOf(cases);
  const missing = new Set(evidence.flat());
  const chosen = new Set<number>();
  while (missing.size > 0) {
    let [best, most] = [-1, 0];
    for (const [at, proved] of evidence.entries()) {
      if (proved.length <= most) continue;
      const fresh = proved.filter((fact) => missing.has(fact)).length;
      if (fresh > most) [best, most] = [at, fresh];
    }
    chosen.add(best);
    for (const fact of evidence[best] ?? []) missing.delete(fact);
  }
  return cases.flatMap(({ cell }, at) => (chosen.has(at) ? [cell] : []));
}

/** Returns the assets to request individually as this kind of caller. */
export function decisiveAssets(who: CallerKind, cells: readonly AssetCell[]): AssetCell[] {
  const switches = { publicMode: true, matureAllowed: true };
  return fewest(
    cells.map((cell) => {
      const answer = answerOf(who, cell);
      return {
        cell,
        properties: propertiesOf(cell),
        outcome: `${answer} ${isServed(who, cell, switches)} ${editsAsset(who, cell)}`,
        isHidden: answer === 'missing',
      };
    }),
  );
}
