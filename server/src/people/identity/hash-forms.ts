import { type RawBuilder, sql } from 'kysely';

/**
 * The forms of stored passwords that verify (SIGNIN-7, SIGNIN-8). The costs of bcrypt and Argon2id are bounded, so that a
 * stored hash cannot make a sign-in take minutes or gigabytes.
 */

const bcryptForm = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;
const digestForm = /^(?:[0-9a-f]{64}|[0-9a-f]{32})$/i;
const argon2Form =
  /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,86}$/;

/** 256 MiB; PHP uses 64. */
const MOST_KIB = 262_144;
const MOST_PASSES = 16;
const MOST_LANES = 16;

/** Returns whether this is a hash of Argon2id as PHP writes it, at a cost that sign-in accepts. */
export function isArgon2(stored: string): boolean {
  const [memory = 0, passes = 0, lanes = 0] = argon2Form.exec(stored)?.slice(1).map(Number) ?? [];
  const isBounded = memory <= MOST_KIB && passes <= MOST_PASSES && lanes <= MOST_LANES;
  return isBounded && passes >= 1 && lanes >= 1 && memory >= 8 * lanes;
}

/** Returns whether this text of an earlier system is a hash that can verify. */
export function isHash(stored: string): boolean {
  return bcryptForm.test(stored) || digestForm.test(stored) || isArgon2(stored);
}

const isArgon2InSql = (stored: RawBuilder<string | null>) => sql`(
  select memory between 8 * lanes and ${MOST_KIB} and passes between 1 and ${MOST_PASSES} and lanes between 1 and ${MOST_LANES}
  from regexp_match(${stored}, ${argon2Form.source}) costs,
    lateral (select costs[1]::integer as memory, costs[2]::integer as passes, costs[3]::integer as lanes) cost)`;

/** The same decision as `isHash` in SQL; false for null. */
export function isHashInSql(stored: RawBuilder<string | null>): RawBuilder<boolean> {
  return sql`coalesce(${stored} ~ ${bcryptForm.source} or ${stored} ~* ${digestForm.source}
    or ${isArgon2InSql(stored)}, false)`;
}
