import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { PasskeyAssertion } from '@vitrine/contract/passkey-assertion';
import type { CreationOptions, PasskeyAttestation, RequestOptions } from '@vitrine/contract/passkeys';

/** What a response may say instead of the truth. */
export interface Untruth {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  counter?: number;
  userVerified?: boolean;
  userHandle?: string;
  multiDevice?: boolean;
  backedUp?: boolean;
  key?: KeyObject;
}

/** A passkey in software, which signs what a test makes it sign. */
export interface SoftwarePasskey {
  id: string;
  /** Its private key. */
  key: KeyObject;
  counter: number;
  userHandle: string;
  attest(options: CreationOptions, untruth?: Untruth): PasskeyAttestation;
  assert(options: RequestOptions, untruth?: Untruth): PasskeyAssertion;
}

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

function clientData(type: string, challenge: string, origin: string, untruth: Untruth): Buffer {
  const { crossOrigin = false } = untruth;
  return Buffer.from(
    JSON.stringify({
      type: untruth.type ?? type,
      challenge: untruth.challenge ?? challenge,
      origin: untruth.origin ?? origin,
      crossOrigin,
    }),
  );
}

/** Returns the public key in the form of COSE. */
function coseKey(key: KeyObject): Uint8Array<ArrayBuffer> {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const coordinate = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return isoCBOR.encode(
    new Map<number, number | Uint8Array<ArrayBuffer>>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(x)],
      [-3, coordinate(y)],
    ]),
  );
}

/** Creates a passkey for a site. `multiDevice` says that the authenticator may copy it. */
export function softwarePasskey(origin: string, { multiDevice = true } = {}): SoftwarePasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  const head = (rpId: string, attested: boolean, untruth: Untruth) => {
    const copies = untruth.multiDevice ?? multiDevice;
    const flags =
      0x01 |
      (untruth.userVerified === false ? 0 : 0x04) |
      (copies ? 0x08 : 0) |
      ((untruth.backedUp ?? copies) ? 0x10 : 0) |
      (attested ? 0x40 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(untruth.counter ?? passkey.counter);
    return Buffer.concat([sha256(untruth.rpId ?? rpId), Buffer.from([flags]), counter]);
  };
  const passkey: SoftwarePasskey = {
    id: base64url(id),
    key: privateKey,
    counter: 0,
    userHandle: '',
    attest({ challenge, rp, user }, untruth = {}) {
      passkey.userHandle = user.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const authData = Buffer.concat([
        head(rp.id, true, untruth),
        Buffer.alloc(16),
        length,
        id,
        coseKey(publicKey),
      ]);
      const attestationObject = isoCBOR.encode(
        new Map<string, string | Map<string, string> | Uint8Array<ArrayBuffer>>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', new Uint8Array(authData)],
        ]),
      );
      return {
        id: passkey.id,
        rawId: passkey.id,
        type: 'public-key',
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', challenge, origin, untruth)),
          attestationObject: base64url(attestationObject),
          transports: ['internal', 'hybrid'],
        },
      };
    },
    assert({ challenge, rpId }, untruth = {}) {
      const data = clientData('webauthn.get', challenge, origin, untruth);
      const authenticatorData = head(rpId, false, untruth);
      const signed = Buffer.concat([authenticatorData, sha256(data)]);
      return {
        id: passkey.id,
        rawId: passkey.id,
        type: 'public-key',
        response: {
          clientDataJSON: base64url(data),
          authenticatorData: base64url(authenticatorData),
          signature: base64url(sign('sha256', signed, untruth.key ?? privateKey)),
          userHandle: untruth.userHandle ?? passkey.userHandle,
        },
      };
    },
  };
  return passkey;
}
