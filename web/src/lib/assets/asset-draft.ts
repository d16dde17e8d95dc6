import type { AssetUpdate, ShownAsset } from '@vitrine/contract/assets';
import type { AiProvenance } from '@vitrine/contract/values';

/** What the form about an asset holds. `undeclared` stands for no declaration, which is not `none` (ASSET-21). */
export interface AssetDraft {
  title: string;
  description: string;
  tags: readonly string[];
  status: ShownAsset['status'];
  sensitivity: NonNullable<ShownAsset['sensitivity']>;
  mature: boolean;
  declared: AiProvenance | 'undeclared';
}

/** The form of an asset as it stands. */
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
  title: 'title',
  description: 'description',
  tags: 'tags',
  status: 'status',
  sensitivity: 'who may see it',
  mature: 'the mature rating',
  declared: 'how AI took part',
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

function differs(one: AssetDraft, other: AssetDraft, part: keyof AssetDraft): boolean {
  if (part === 'tags') return one.tags.join('\n') !== other.tags.join('\n');
  return one[part] !== other[part];
}

/** What to send so that the asset becomes the draft; a declaration is taken back by name (HTTP-17). */
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

/** What differs between two states of an asset, in words; the state of its previews is not among it. */
export function changesBetween(before: ShownAsset, after: ShownAsset): readonly string[] {
  const [one, other] = [draftOf(before), draftOf(after)];
  return parts.filter((part) => differs(one, other, part)).map((part) => labels[part]);
}

/** The draft carried over to a newer state: what its writer changed stays, the rest is as it is now. */
export function carriedOver(before: ShownAsset, draft: AssetDraft, after: ShownAsset): AssetDraft {
  const kept = draftOf(before);
  const now = draftOf(after);
  const mine = parts.filter((part) => differs(kept, draft, part));
  return { ...now, ...Object.fromEntries(mine.map((part) => [part, draft[part]])) };
}
