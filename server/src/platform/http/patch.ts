import { refuse } from './refuse.ts';

/** Endings of properties that the name of their removal leaves out: `clear_avatar` removes `avatar_asset_id`. */
const endings = /_asset_id$|_post_id$|_id$|_value$|_x$/;

type Shortened<P extends string> = P extends `${infer S}_asset_id`
  ? S
  : P extends `${infer S}_post_id` | `${infer S}_id` | `${infer S}_value` | `${infer S}_x`
    ? S
    : P;

/** The property that removes a property, if the schema of the body has one. */
type RemovalOf<B, P extends string> = Extract<keyof B, `clear_${P}` | `clear_${Shortened<P>}`>;

/** Properties of a body that can be removed. */
type Removable<B> = {
  [P in keyof B & string]: [RemovalOf<B, P>] extends [never] ? never : P;
}[keyof B & string];

/** What a PATCH changes: a value, or null for a removal. */
export type Patch<B, P extends keyof B & string> = {
  [N in P]?: NonNullable<B[N]> | ([RemovalOf<B, N>] extends [never] ? never : null);
};

/** The value of a property in the body of a request, whose schema has been checked. */
function valueIn(body: object, key: string): unknown {
  return Object.hasOwn(body, key) ? Reflect.get(body, key) : undefined;
}

/** Returns the name of the removal that the body asks for; null if it does not. */
function removalIn(body: object, property: string): string | null {
  const names = [`clear_${property}`, `clear_${property.replace(endings, '')}`];
  return names.find((name) => valueIn(body, name) === true) ?? null;
}

/** Refuses (400) a value together with its removal (HTTP-17). */
export function checkRemovals<B extends object>(body: B, properties: readonly Removable<B>[]): void {
  for (const property of properties) {
    const removal = removalIn(body, property);
    if (removal !== null && valueIn(body, property) != null)
      throw refuse('exclusive-properties', { property: removal, other: property });
  }
}

/**
 * Returns what the body of a PATCH changes among these properties (HTTP-17): their values, and null for those that a
 * `clear_*` removes. Absent and null leave a property unchanged. Refuses (400) a value together with its removal.
 */
export function patchOf<B extends object, P extends keyof B & string>(
  body: B,
  properties: readonly P[],
): Patch<B, P> {
  const changes: [string, unknown][] = [];
  for (const property of properties) {
    const removal = removalIn(body, property);
    const value = valueIn(body, property) ?? null;
    if (removal !== null && value !== null)
      throw refuse('exclusive-properties', { property: removal, other: property });
    if (removal !== null || value !== null) changes.push([property, value]);
  }
  // The values come from these properties of the body, which `fromEntries` cannot know.
  return Object.fromEntries(changes) as Patch<B, P>;
}
