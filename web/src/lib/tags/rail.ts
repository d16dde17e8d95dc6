import type { Preferences } from '@vitrine/contract/preferences';

export type Rail = Preferences['browse_rail'];

export const emptyRail: Rail = { hidden_team_ids: [], team_order: [], hidden_tags: [], tag_order: [] };

/** Followed tags in the order of the rail: those put in order first, then the others as they were followed. */
export function inRailOrder(followed: readonly string[], rail: Rail): readonly string[] {
  const placed = rail.tag_order.filter((tag) => followed.includes(tag));
  return [...placed, ...followed.filter((tag) => !placed.includes(tag))];
}

/** What the rail shows: hiding a chip is not unfollowing its tag. */
export function chipsOf(followed: readonly string[], rail: Rail): readonly string[] {
  return inRailOrder(followed, rail).filter((tag) => !rail.hidden_tags.includes(tag));
}

/** The rail with tags in this order; what is said of teams stays. */
export function withOrder(rail: Rail, tags: readonly string[]): Rail {
  return { ...rail, tag_order: tags.slice(0, 200) };
}

/** The rail with a tag's chip hidden or shown. */
export function withChip(rail: Rail, tag: string, shown: boolean): Rail {
  const others = rail.hidden_tags.filter((one) => one !== tag);
  return { ...rail, hidden_tags: shown ? others : [...others, tag].slice(-200) };
}
