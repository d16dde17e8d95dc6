import { isStatement, type RawStatement } from './find.ts';
import { type Choices, NotRenderable, type Rendering, render } from './render.ts';
import type { Sources } from './sources.ts';

/** The most branches of a statement that are tried one by one, and the most alternatives of each. */
const MOST_BRANCHES = 40;
const MOST_ALTERNATIVES = 6;

/** Takes the last alternative of every branch. */
const lastOfEach: Choices = { get: () => -1 };

/**
 * Renders a statement in the forms that it takes: with the first and with the last alternative of every branch, and with
 * each other alternative alone. Empty if no form is SQL.
 */
export function renderForms(sources: Sources, { composed }: RawStatement): string[] {
  const texts = new Set<string>();
  const attempt = (taken: Choices): Rendering['branches'] => {
    try {
      const rendering = render(sources, composed, taken);
      if (rendering === null) return new Map();
      if (isStatement(rendering.text)) texts.add(rendering.text);
      return rendering.branches;
    } catch (error) {
      if (!(error instanceof NotRenderable)) throw error;
      return new Map();
    }
  };
  const branches = new Map([...attempt(new Map()), ...attempt(lastOfEach)]);
  for (const [branch, alternatives] of [...branches].slice(0, MOST_BRANCHES)) {
    for (let chosen = 1; chosen < Math.min(alternatives, MOST_ALTERNATIVES); chosen += 1)
      attempt(new Map([[branch, chosen]]));
  }
  return [...texts];
}
