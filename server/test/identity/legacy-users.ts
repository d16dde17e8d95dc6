import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

/** Accounts of the earlier system. PHP's own functions made the hashes: `php -r "$(jq -r .made_with FILE)"`. */
export const { scramble_key: scrambleKey, users: legacyUsers } = Parse(
  Type.Object({
    scramble_key: Type.String(),
    users: Type.Array(
      Type.Object({
        form: Type.Enum(['bcrypt', 'sha256', 'md5']),
        username: Type.String(),
        password: Type.String(),
        hash: Type.String(),
      }),
      { minItems: 30 },
    ),
  }),
  JSON.parse(readFileSync(join(import.meta.dirname, 'legacy-hashes.json'), 'utf8')),
);

/** The first account of each form of hash. */
export const firstOfForm = new Map(legacyUsers.toReversed().map((user) => [user.form, user]));
