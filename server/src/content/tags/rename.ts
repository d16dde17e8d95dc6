import { foldName } from '@vitrine/contract/names';
import { mergeTags, renameTag, type TagChange } from '@vitrine/contract/tags';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { storedTag } from '../../core/tag-register.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { rewriteKeptTag, rewriteTag, takeTurn, wouldRewrite } from './rewrite.ts';
import { isInRun, startRun } from './run.ts';
import { showTag } from './show.ts';

/** TAG-7: the most posts and assets that one transaction changes. */
const AT_ONCE = 1000;

interface Renaming {
  source: string;
  target: string;
  /** `new`: the name must not be a tag that the caller knows. `known`: it must be one. */
  targetIs: 'new' | 'known';
  event: 'tag.renamed' | 'tag.merged';
  reason: string | null;
  isDryRun: boolean;
}

/** Looks up both names with the caller's rights, so that unreadable tags stay hidden. */
async function change({ db }: Deps, caller: SignedIn, renaming: Renaming): Promise<TagChange> {
  const { event, reason, isDryRun } = renaming;
  return db.transaction().execute(async (tx) => {
    await takeTurn(tx);
    const source = await storedTag(tx, renaming.source);
    // A tag may be renamed to another spelling of itself.
    const isRespelled = renaming.targetIs === 'new' && foldName(source) === foldName(renaming.target);
    const target = isRespelled ? renaming.target : await storedTag(tx, renaming.target);
    if (source === target) throw refuse('tags-equal');
    if ((await showTag(tx, caller, source)) === null) throw notFound();
    const isKnown = !isRespelled && (await showTag(tx, caller, target)) !== null;
    if (renaming.targetIs === 'known' && !isKnown) throw notFound();
    if (renaming.targetIs === 'new' && isKnown) {
      throw refuse('tag-exists');
    }
    const counts = await wouldRewrite(tx, source);
    if (isDryRun) return { ...counts, dry_run: true };
    const total = counts.posts + counts.assets;
    const inSteps = total > AT_ONCE || (await isInRun(tx, [source, target]));
    const rewritten = inSteps
      ? await rewriteKeptTag(tx, source, target, counts)
      : await rewriteTag(tx, source, target);
    await recordEvent(tx, caller, { event, metadata: { from: source, to: target, reason, ...rewritten } });
    const change = { ...rewritten, dry_run: false };
    return inSteps ? { ...change, run: await startRun(tx, { source, target, total }) } : change;
  });
}

export const rename = handle(renameTag, async (deps, { caller, params, body }) => {
  const target = body.to.trim();
  if (target === '') throw refuse('tag-blank');
  const renaming = {
    source: params.tag,
    target,
    targetIs: 'new',
    event: 'tag.renamed',
    reason: null,
  } as const;
  return { status: 200, body: await change(deps, caller, { ...renaming, isDryRun: body.dry_run === true }) };
});

export const merge = handle(mergeTags, async (deps, { caller, body }) => {
  const { source, target, reason } = body;
  const renaming = { source, target, targetIs: 'known', event: 'tag.merged', reason } as const;
  return { status: 200, body: await change(deps, caller, { ...renaming, isDryRun: body.dry_run === true }) };
});
