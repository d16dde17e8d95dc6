import type { PostMember } from '@vitrine/contract/posts';
import { kindOf } from '#lib/assets/kinds.ts';
import { nameOf } from '#lib/assets/labels.ts';

/** Returns the kind of a file of a post with a capital: `Video`. */
export function memberKind(member: PostMember | undefined): string {
  const kind = member === undefined || member.restricted ? 'file' : kindOf(member.asset);
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}

/** Returns what a screen reader hears of a file of a post: `Video 4: Tide`. */
export function memberLabel(member: PostMember, at: number): string {
  const name = member.restricted ? 'not shared with you' : nameOf(member.asset);
  return `${memberKind(member)} ${at + 1}: ${name}`;
}
