import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post, PostMember } from '@vitrine/contract/posts';
import { countedKinds, kindOf } from '#lib/assets/kinds.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';
import { series } from '#lib/texts/series.ts';
import { stageRatioOf } from './sheet.ts';

/** Returns the cover of a post: the chosen one, otherwise its first member (POST-23). */
export function coverOf(post: Post): PostMember | undefined {
  const chosen = post.members.find((member) => member.asset_id === post.cover_asset_id);
  return chosen ?? post.members[0];
}

/** Returns the asset of the cover if the caller may see it. */
export function coverAssetOf(post: Post): ShownAsset | undefined {
  const cover = coverOf(post);
  return cover === undefined || cover.restricted ? undefined : cover.asset;
}

/** Returns the aspect ratio of the carousel on a phone: its first picture's, so that paging does not move the page. */
export function carouselRatioOf({ members: [first] }: Post): number {
  if (first === undefined || first.restricted) return 4 / 3;
  return stageRatioOf(first.asset.pixel_width, first.asset.pixel_height);
}

export function titleOf(post: Post): string {
  return post.title.trim() === '' ? 'Untitled' : post.title;
}

/** Returns the label of a card for screen readers: title, author, and the kind and number of its files. */
export function cardLabel(post: Post): string {
  const parts = [titleOf(post)];
  if (post.author !== undefined) parts.push(`by ${post.author.display_name}`);
  parts.push(filesInWords(post.members));
  return series(parts);
}

function filesInWords(members: readonly PostMember[]): string {
  const shown = members.flatMap((member) => (member.restricted ? [] : [member.asset]));
  if (members.length === 0) return phrase('no files');
  if (members.length === 1) return shown[0] === undefined ? phrase('not shared with you') : kindOf(shown[0]);
  return shown.length === members.length
    ? countedKinds(shown)
    : plural(members.length, ['# file', '# files']);
}
