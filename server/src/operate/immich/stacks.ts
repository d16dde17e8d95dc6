import { randomUUID } from 'node:crypto';
import { mostStacked } from '@vitrine/contract/stacks';
import { stackGroups } from '../../content/stacks/store.ts';
import { sentence } from '../../platform/language/sentence.ts';
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
    return isNew && assets.length > 1 ? [{ primary, members, assets }] : [];
  });
}

/** Stacks of one transaction. */
const AT_ONCE = 500;

type NewStack = ReturnType<typeof newStacks>[number];

/** Divides stacks into parts of one transaction each, in which no asset is in two stacks. */
function partsOf(stacks: readonly NewStack[]): NewStack[][] {
  const parts: NewStack[][] = [];
  let taken = new Set<string>();
  for (const stack of stacks) {
    const part = parts.at(-1);
    if (part === undefined || part.length === AT_ONCE || stack.assets.some((id) => taken.has(id))) {
      parts.push([stack]);
      taken = new Set(stack.assets);
    } else {
      part.push(stack);
      for (const id of stack.assets) taken.add(id);
    }
  }
  return parts;
}

/** Stacks the files of each stack. One that was ended here comes back only with a new file. */
export async function importStacks(context: Context): Promise<void> {
  const { deps, ledger, reporter, isStopped } = context;
  for (const part of partsOf(newStacks(context))) {
    if (isStopped()) return;
    await deps.db.transaction().execute(async (tx) => {
      const entries = part.flatMap(({ members }) =>
        members.map(({ id, asset }) => ({ id, target: asset, fingerprint: '' })),
      );
      await ledger.recordAll(tx, 'relation', entries);
      await stackGroups(
        tx,
        part.map(({ assets }) => ({ id: randomUUID(), assets: assets.slice(0, mostStacked) })),
      );
    });
    for (const { primary, assets } of part) {
      reporter.count('stacks');
      if (assets.length > mostStacked)
        reporter.leaveOut(
          'stack',
          primary,
          sentence('{count} of its files, because a stack has at most {most}', {
            count: assets.length - mostStacked,
            most: mostStacked,
          }),
        );
    }
  }
}
