import type { AssetUpdate, ShownAsset } from '@vitrine/contract/assets';
import type { AiProvenance } from '@vitrine/contract/values';
import { phrase } from '#lib/languages/phrase.ts';

/** The state of the asset form. `undeclared` means no declaration, which differs from `none` (ASSET-21). */
export interface AssetDraft {
  title: string;
  description: string;
  tags: readonly string[];
  status: ShownAsset['status'];
  sensitivity: NonNullable<ShownAsset['sensitivity']>;
  mature: boolean;
  declared: AiProvenance | 'undeclared';
}

/** Returns the form of an asset. */
export function draftOf(asset: ShownAsset): AssetDraft {
  return {
    title: asset.title,
    description: asset.description,
    tags: asset.tags,
    status: asset.status,
    sensitivity: asset.sensitivity ?? 'public',
    mature: asset.mature,
    declared: asset.ai_provenance ?? 'undeclared',
  };
}

const labels: Readonly<Record<keyof AssetDraft, string>> = {
  title: phrase('title'),
  description: phrase('description'),
  tags: phrase('tags'),
  status: phrase('status'),
  sensitivity: phrase('who may see it'),
  mature: phrase('the mature rating'),
  declared: phrase('how AI took part'),
};
const parts: readonly (keyof AssetDraft)[] = [
  'title',
  'description',
  'tags',
  'status',
  'sensitivity',
  'mature',
  'declared',
];

function differs(a: AssetDraft, b: AssetDraft, part: keyof AssetDraft): boolean {
  if (part === 'tags') return a.tags.join('\n') !== b.tags.join('\n');
  return a[part] !== b[part];
}

/** Returns the changes that turn the asset into the draft. A declaration is removed with `clear_*` (HTTP-17). */
export function assetPatch(before: ShownAsset, draft: AssetDraft): AssetUpdate {
  const kept = draftOf(before);
  const { title, description, tags, status, sensitivity, mature, declared } = draft;
  const changed = (part: keyof AssetDraft) => differs(kept, draft, part);
  return {
    ...(changed('title') ? { title } : {}),
    ...(changed('description') ? { description } : {}),
    ...(changed('tags') ? { tags: [...tags] } : {}),
    ...(changed('status') ? { status } : {}),
    ...(changed('sensitivity') ? { sensitivity } : {}),
    ...(changed('mature') ? { mature } : {}),
    ...(changed('declared')
      ? declared === 'undeclared'
        ? { clear_ai_provenance: true }
        : { ai_provenance: declared }
      : {}),
  };
}

/** Describes the differences between two states of an asset, ignoring its previews. */
export function changesBetween(before: ShownAsset, after: ShownAsset): readonly string[] {
  const [former, current] = [draftOf(before), draftOf(after)];
  return parts.filter((part) => differs(former, current, part)).map((part) => labels[part]);
}

/** Applies the user's changes to a newer state of the asset. */
export function carriedOver(before: ShownAsset, draft: AssetDraft, after: ShownAsset): AssetDraft {
  const kept = draftOf(before);
  const now = draftOf(after);
  const mine = parts.filter((part) => differs(kept, draft, part));
  return { ...now, ...Object.fromEntries(mine.map((part) => [part, draft[part]])) };
}
