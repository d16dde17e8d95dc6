import { type Static, Type } from 'typebox';
import { nullable } from './values.ts';

/** `AuthenticationResponseJSON` of WebAuthn level 3. Browsers add properties, so unknown ones are accepted. */
export const PasskeyAssertion = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1400 }),
  rawId: Type.String({ minLength: 1, maxLength: 1400 }),
  type: Type.String({ maxLength: 100 }),
  response: Type.Object({
    clientDataJSON: Type.String({ maxLength: 10_000 }),
    authenticatorData: Type.String({ maxLength: 10_000 }),
    signature: Type.String({ maxLength: 10_000 }),
    userHandle: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  }),
});
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;
