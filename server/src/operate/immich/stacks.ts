import { stackAssets } from '../../content/stacks/store.ts';
import type { Context } from './context.ts';

/** Returns the stacks with a file that an earlier run has not stacked, with the assets that are here, the top one first. */
function newStacks({ ledger, library }: Context) {
  const assetOf = (id: string) => ledger.find('resource', id)?.target;
  return library.stacks.flatMap(({ primary, others }) => {
    const members = [...new Set([primary, ...others])].flatMap((old) => {
      const asset = assetOf(old);
      return asset === undefined ? [] : [{ id: `stack ${primary} ${old}`, asset }];
    });
    const assets = [...new Set(members.map(({ asset }) => asset))];
    const isNew = members.some(({ id }) => ledger.find('relation', id) === undefined);
    return isNew && assets.length > 1 ? [{ members, assets }] : [];
  });
}

/** Stacks the files of each stack. One that was ended here comes back only with a new file. */
export async function importStacks(context: Context): Promise<void> {
  const { deps, ledger, reporter, isStopped } = context;
  for (const { members, assets } of newStacks(context)) {
    if (isStopped()) return;
    await deps.db.transaction().execute(async (tx) => {
      const entries = members.map(({ id, asset }) => ({ id, target: asset, fingerprint: '' }));
      await ledger.recordAll(tx, 'relation', entries);
      await stackAssets(tx, assets);
    });
    reporter.count('stacks');
  }
}
