import type { PostMember } from '@vitrine/contract/posts';
import { kindLabel } from '#lib/assets/kinds.ts';
import { nameOf } from '#lib/assets/labels.ts';
import { phrase } from '#lib/languages/phrase.ts';

/** Returns the label of the kind of a file, such as `Video`. */
export function memberKind(member: PostMember | undefined): string {
  return kindLabel(member === undefined || member.restricted ? undefined : member.asset);
}

/** Returns the accessible name of the file at an index of a post, such as `Video 4: Tide`. */
export function memberLabel(member: PostMember, at: number): string {
  const name = member.restricted ? phrase('not shared with you') : nameOf(member.asset);
  return `${memberKind(member)} ${at + 1}: ${name}`;
}
