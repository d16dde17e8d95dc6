import { DefaultViews } from '@vitrine/contract/identity';
import { closed } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Texts = Type.Array(Type.String());

/** An account's stored preferences (choices, preferences). */
const Preferences = closed({
  language: Type.String(),
  theme: Type.Enum(['', 'light', 'dark', 'system']),
  default_views: DefaultViews,
  feed_filters: closed({ show_restricted: Type.Boolean() }),
  browse_rail: closed({ hidden_team_ids: Texts, team_order: Texts, hidden_tags: Texts, tag_order: Texts }),
  mature_content: closed({ show: Type.Boolean() }),
});
type Preferences = Static<typeof Preferences>;

const compiled = Compile(Preferences);

const unset: Preferences = {
  language: '',
  theme: '',
  default_views: { feed: '', layout: '', sort: '' },
  feed_filters: { show_restricted: false },
  browse_rail: { hidden_team_ids: [], team_order: [], hidden_tags: [], tag_order: [] },
  mature_content: { show: false },
};

/** Stored preferences with everything that was never chosen at its default. */
export function readPreferences(stored: unknown): Preferences {
  const merged: unknown = { ...unset, ...(typeof stored === 'object' ? stored : {}) };
  return compiled.Check(merged) ? merged : unset;
}
