import type { ShownAsset } from '@vitrine/contract/assets';
import type { CollectionItem } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';
import { nameOf } from '#lib/assets/labels.ts';
import { titleOf } from '#lib/posts/cover.ts';
import { firstShownOf } from './cover-picture.ts';

/** A post or a file, as a collection refers to it. */
export interface ItemRef {
  readonly kind: CollectionItem['kind'];
  readonly id: string;
}

/** A post or a file that a collection shows. */
export interface ShownItem extends ItemRef {
  readonly name: string;
  readonly href: string;
  /** Its picture, unless it is withheld. */
  readonly asset: ShownAsset | undefined;
}

/** Returns how a post is shown among files. */
export function itemOfPost(post: Post): ShownItem {
  return {
    kind: 'post',
    id: post.id,
    name: titleOf(post),
    href: `/posts/${post.id}`,
    asset: firstShownOf(post),
  };
}

/** Returns how a file is shown in a collection. */
export function itemOfAsset(asset: ShownAsset): ShownItem {
  return { kind: 'asset', id: asset.id, name: nameOf(asset), href: `/assets/${asset.id}`, asset };
}

/** Returns the items of a page; a file that is withheld meanwhile is left out. */
export function shownItems(items: readonly CollectionItem[]): ShownItem[] {
  return items.flatMap(({ post, asset }) => {
    if (post !== undefined) return itemOfPost(post);
    return asset === undefined || asset.restricted ? [] : itemOfAsset(asset);
  });
}
