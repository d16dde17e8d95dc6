import { describe, expect, it } from 'vitest';
import {
  chipsOf,
  emptyRail,
  inRailOrder,
  teamChipsOf,
  teamsInRailOrder,
  withChip,
  withOrder,
  withTeamChip,
  withTeamOrder,
} from '#lib/tags/rail.ts';

// PREFERENCE-5
describe('the rail of followed tags', () => {
  const followed = ['a', 'b', 'c'];

  it('lists ordered chips first, then the others as they were followed', () => {
    expect(inRailOrder(followed, withOrder(emptyRail, ['c', 'gone']))).toEqual(['c', 'a', 'b']);
    expect(inRailOrder(followed, emptyRail)).toEqual(followed);
  });

  it('omits hidden chips and keeps their place', () => {
    const rail = withChip(withOrder(emptyRail, ['c', 'b', 'a']), 'b', false);
    expect(chipsOf(followed, rail)).toEqual(['c', 'a']);
    expect(chipsOf(followed, withChip(rail, 'b', true))).toEqual(['c', 'b', 'a']);
    expect(withChip(rail, 'b', false).hidden_tags).toEqual(['b']);
  });

  // PREFERENCE-5
  it('includes teams; a partial order comes first, and hidden ones stay followed', () => {
    const teams = ['t1', 't2', 't3'];
    const ordered = withTeamOrder({ ...emptyRail, hidden_tags: ['x'] }, ['t3', 'gone']);
    const rail = withTeamChip(ordered, 't1', false);
    expect(teamsInRailOrder(teams, rail)).toEqual(['t3', 't1', 't2']);
    expect(teamChipsOf(teams, rail)).toEqual(['t3', 't2']);
    expect(teamChipsOf(teams, withTeamChip(rail, 't1', true))).toEqual(['t3', 't1', 't2']);
    expect(rail.hidden_tags).toEqual(['x']);
  });

  it('keeps the settings of teams', () => {
    const teams = { team_order: ['t'], hidden_team_ids: ['u'] };
    const rail = withOrder({ ...emptyRail, ...teams }, ['a']);
    expect(withChip(rail, 'a', false)).toMatchObject(teams);
  });
});
