import type { PeerCaller } from '../../../access/federation.ts';
import type { RemoteActor } from '../actors.ts';
import type { Install } from '../identity.ts';

/** The sender of an envelope and the context for applying it. */
export interface Receipt {
  install: Install;
  sender: PeerCaller & { url: string };
  /** The actor, whose key signed the envelope. */
  actor: RemoteActor;
  /** The owner of the object. */
  owner: RemoteActor;
  /** The accounts here that the envelope was encrypted for; null if it was plain. */
  recipients: number[] | null;
}
