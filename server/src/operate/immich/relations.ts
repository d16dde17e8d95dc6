import { relateAll } from '../../content/assets/relate.ts';
import type { Context } from './context.ts';

/** Pairs per transaction. */
const BATCH = 1000;

/** Returns the pairs of files in stacks whose assets are here and were not related by an earlier run. */
function newPairs({ ledger, library }: Context) {
  const assetOf = (id: string) => ledger.find('resource', id)?.target;
  const pairs = library.stacks.flatMap(({ primary, others }) =>
    others.flatMap((other) => {
      const [one, two] = [assetOf(primary), assetOf(other)];
      const id = `stack ${primary} ${other}`;
      return one === undefined || two === undefined || ledger.find('relation', id) !== undefined
        ? []
        : [{ id, one, two }];
    }),
  );
  return [...new Map(pairs.map((pair) => [pair.id, pair])).values()];
}

/** Relates the files of each stack to the one on top. A relation that was removed here comes back only with a new file. */
export async function importStacks(context: Context): Promise<void> {
  const { deps, ledger, reporter, isStopped } = context;
  const pairs = newPairs(context);
  for (let at = 0; at < pairs.length && !isStopped(); at += BATCH) {
    const some = pairs.slice(at, at + BATCH);
    const related = await deps.db.transaction().execute(async (tx) => {
      const entries = some.map(({ id, one }) => ({ id, target: one, fingerprint: '' }));
      await ledger.recordAll(tx, 'relation', entries);
      return relateAll(
        tx,
        some.map(({ one, two }) => [one, two] as const),
      );
    });
    if (related > 0) reporter.count('related', related);
  }
}
