import { type Static, Type } from 'typebox';
import { nullable } from './values.ts';

/** What both ceremonies of WebAuthn say of a credential. */
export const credential = {
  id: Type.String({ minLength: 1, maxLength: 1400 }),
  rawId: Type.String({ minLength: 1, maxLength: 1400 }),
  type: Type.String({ maxLength: 100 }),
};

/** `AuthenticationResponseJSON` of WebAuthn level 3. Browsers add properties, so unknown ones are accepted. */
export const PasskeyAssertion = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: Type.String({ maxLength: 10_000 }),
    authenticatorData: Type.String({ maxLength: 10_000 }),
    signature: Type.String({ maxLength: 10_000 }),
    userHandle: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  }),
});
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;
