import type { Preferences } from '@vitrine/contract/preferences';

export type Rail = Preferences['browse_rail'];

export const emptyRail: Rail = { hidden_team_ids: [], team_order: [], hidden_tags: [], tag_order: [] };

/** Ordered items come first; the others keep their relative order (PREFERENCE-5). */
function ordered(followed: readonly string[], order: readonly string[]): readonly string[] {
  const placed = order.filter((item) => followed.includes(item));
  return [...placed, ...followed.filter((item) => !placed.includes(item))];
}

/** Returns the followed tags in the order of the rail: ordered ones first, then the others as they were followed. */
export function inRailOrder(followed: readonly string[], rail: Rail): readonly string[] {
  return ordered(followed, rail.tag_order);
}

/** Returns the ids of followed teams in the order of the rail. */
export function teamsInRailOrder(followed: readonly string[], rail: Rail): readonly string[] {
  return ordered(followed, rail.team_order);
}

/** Returns the ids of the teams in the rail. The preference lists hidden teams, not visible ones (PREFERENCE-5). */
export function teamChipsOf(followed: readonly string[], rail: Rail): readonly string[] {
  return teamsInRailOrder(followed, rail).filter((id) => !rail.hidden_team_ids.includes(id));
}

/** Returns the tags in the rail. A hidden tag is still followed. */
export function chipsOf(followed: readonly string[], rail: Rail): readonly string[] {
  return inRailOrder(followed, rail).filter((tag) => !rail.hidden_tags.includes(tag));
}

/** Returns the rail with its tags in this order; its teams do not change. */
export function withOrder(rail: Rail, tags: readonly string[]): Rail {
  return { ...rail, tag_order: tags.slice(0, 200) };
}

/** Returns the rail with its teams in this order; its tags do not change. */
export function withTeamOrder(rail: Rail, ids: readonly string[]): Rail {
  return { ...rail, team_order: ids.slice(0, 200) };
}

/** Returns the rail with a team's chip hidden or shown. */
export function withTeamChip(rail: Rail, id: string, shown: boolean): Rail {
  const others = rail.hidden_team_ids.filter((hidden) => hidden !== id);
  return { ...rail, hidden_team_ids: shown ? others : [...others, id].slice(-200) };
}

/** Returns the rail with a tag's chip hidden or shown. */
export function withChip(rail: Rail, tag: string, shown: boolean): Rail {
  const others = rail.hidden_tags.filter((hidden) => hidden !== tag);
  return { ...rail, hidden_tags: shown ? others : [...others, tag].slice(-200) };
}
