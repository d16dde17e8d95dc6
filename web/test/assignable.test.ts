import { describe, expect, it } from 'vitest';
import { choicesOf, offeredTeams } from '#lib/teams/assignable.ts';

const team = (id: string) => ({ id, name: id.toUpperCase() });

describe('teams that a post may be given to', () => {
  it('are the user’s own and managed teams, without duplicates', () => {
    const offered = offeredTeams([team('a')], { everywhere: false, held: ['b', 'a'] });
    expect(offered).toEqual({ beside: ['b'], search: undefined });
    expect(choicesOf([team('b'), team('a'), team('b')])).toEqual([
      { value: 'a', label: 'A' },
      { value: 'b', label: 'B' },
    ]);
  });

  it('are searched when there are many: all, or the managed ones', () => {
    const held = Array.from({ length: 31 }, (_, index) => `t${index}`);
    expect(offeredTeams([], { everywhere: false, held })).toEqual({ beside: [], search: new Set(held) });
    expect(offeredTeams([team('a')], { everywhere: true, held: [] })).toEqual({ beside: [], search: 'any' });
  });
});
