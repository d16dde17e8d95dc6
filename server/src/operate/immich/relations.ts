import { relate } from '../../content/assets/relate.ts';
import type { Context } from './context.ts';

/** Relates the files of each stack to the one on top. A relation that was removed here comes back only with a new file. */
export async function importStacks({ deps, ledger, library, reporter }: Context): Promise<void> {
  const pairs = library.stacks.flatMap(({ primary, others }) =>
    others.map((other) => [primary, other] as const),
  );
  await deps.db.transaction().execute(async (tx) => {
    for (const [primary, other] of pairs) {
      const key = `stack ${primary} ${other}`;
      const [one, two] = [primary, other].map((id) => ledger.find('resource', id)?.target);
      if (one === undefined || two === undefined || ledger.find('relation', key) !== undefined) continue;
      if (await relate(tx, one, two)) reporter.count('related');
      await ledger.record(tx, 'relation', key, one);
    }
  });
}
