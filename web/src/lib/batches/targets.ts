import type { AssetSelection, BatchPreview, PostSelection } from '@vitrine/contract/batches';
import type { Selection } from '#lib/selection/selection.svelte.ts';
import type { Nouns } from '#lib/selection/words.ts';
import { nounsOf, type Subject } from './subjects.ts';

/** Objects of one kind that a batch changes. */
export type Target =
  | { readonly subject: Subject; readonly ids: readonly string[] }
  | { readonly subject: 'asset'; readonly query: AssetSelection }
  | { readonly subject: 'post'; readonly query: PostSelection };

/** What a list contains. Lists of both kinds select by keys, which name the kind (`keyOf`). */
export type Contents = Subject | 'mixed';

const subjects: readonly Subject[] = ['asset', 'post'];
const prefixOf = (subject: Subject) => `${subject}:`;

/** Returns the key by which a list of both kinds selects something. */
export const keyOf = (subject: Subject, id: string): string => `${prefixOf(subject)}${id}`;

/** Returns the chosen objects of a list, files before posts. A batch changes objects of one kind. */
export function chosenTargets(
  chosen: readonly string[],
  contents: Contents,
): readonly { readonly subject: Subject; readonly ids: readonly string[] }[] {
  if (contents !== 'mixed') return chosen.length === 0 ? [] : [{ subject: contents, ids: chosen }];
  return subjects
    .map((subject) => {
      const prefix = prefixOf(subject);
      return {
        subject,
        ids: chosen.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
      };
    })
    .filter(({ ids }) => ids.length > 0);
}

/** Returns what is chosen: all matches of the list, or the objects that are known by id. */
export function targetsOf(
  selection: Pick<Selection, 'everything' | 'ids'>,
  contents: Contents,
  everything: readonly Target[] | undefined,
): readonly Target[] {
  return selection.everything && everything !== undefined
    ? everything
    : chosenTargets(selection.ids(), contents);
}

/** Returns the nouns for objects of these kinds. */
export function nounsFor(kinds: readonly Subject[]): Nouns {
  const [only, ...others] = kinds;
  return nounsOf[only === undefined || others.length > 0 ? 'mixed' : only];
}

/** Returns the previews of targets as one. */
export function sumOf(previews: readonly BatchPreview[]): BatchPreview {
  const refused = new Map<string, BatchPreview['refused'][number]>();
  for (const one of previews.flatMap((preview) => preview.refused)) {
    const other = refused.get(one.reason);
    refused.set(one.reason, {
      ...one,
      count: one.count + (other?.count ?? 0),
      ids: [...(other?.ids ?? []), ...one.ids],
    });
  }
  const total = (of: (preview: BatchPreview) => number) => previews.reduce((sum, one) => sum + of(one), 0);
  return {
    matched: total(({ matched }) => matched),
    changes: total(({ changes }) => changes),
    unchanged: total(({ unchanged }) => unchanged),
    refused: [...refused.values()],
  };
}
