import { foldName } from '@vitrine/contract/names';
import type { Deps } from '../../../core/deps.ts';
import { decryptersNamed } from '../box-keys.ts';
import type { Install } from '../identity.ts';
import type { Activity } from '../protocol/activities.ts';
import { parseActorUri } from '../protocol/addresses.ts';
import { decryptFor } from '../protocol/box.ts';
import {
  type EncryptedEnvelope,
  type Envelope,
  type PlainEnvelope,
  readDecrypted,
} from '../protocol/envelope.ts';
import type { AaAsset } from '../protocol/objects.ts';
import { Rejection } from '../protocol/rejection.ts';

/** An envelope that can be applied. */
export interface Opened {
  envelope: PlainEnvelope;
  /** The accounts here that it was encrypted for; null if it was plain. */
  recipients: number[] | null;
}

async function decrypt(deps: Deps, install: Install, envelope: EncryptedEnvelope): Promise<Opened> {
  const here = envelope.encrypted.recipients.flatMap(({ actor }) => {
    const person = parseActorUri(actor);
    return person?.base === install.url ? [{ actor, key: foldName(person.username) }] : [];
  });
  const accounts = await decryptersNamed(
    deps,
    here.map(({ key }) => key),
  );
  let content: unknown;
  const recipients: number[] = [];
  for (const { actor, key } of here) {
    const account = accounts.get(key);
    if (account === undefined || recipients.includes(account.ref)) continue;
    // All recipients get the same content, so decrypting it for one of them is enough.
    content ??= decryptFor(actor, account.keys, envelope.encrypted);
    recipients.push(account.ref);
  }
  if (recipients.length === 0)
    throw new Rejection('encryption_not_supported', 'no recipient here can decrypt the content');
  return { envelope: readDecrypted(envelope, content), recipients };
}

/** Returns the assets that an activity contains. */
function assetsOf(activity: Activity): AaAsset[] {
  if (activity.type !== 'Create' && activity.type !== 'Update') return [];
  const { object } = activity;
  return object.type === 'aa:Post' ? object.members : object.type === 'aa:Asset' ? [object] : [];
}

/**
 * Returns a verified envelope with its content decrypted (FED-52). Throws Rejection when no key of its recipients fits, and
 * for restricted content that is sent plainly.
 */
export async function openEnvelope(deps: Deps, install: Install, envelope: Envelope): Promise<Opened> {
  if (envelope.type === 'encrypted') return decrypt(deps, install, envelope);
  const exposed = assetsOf(envelope).some(
    ({ sensitivity, contentKey }) => sensitivity === 'restricted' || contentKey !== undefined,
  );
  if (exposed) throw new Rejection('encryption_required', 'restricted content must be encrypted');
  return { envelope, recipients: null };
}
