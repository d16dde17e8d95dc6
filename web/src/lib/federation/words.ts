import type { rejectionErrors } from '@vitrine/contract/errors/rejections';
import type { Origin, Peer, PeerShare, SensitiveMember } from '@vitrine/contract/federation';
import { phrase } from '#lib/languages/phrase.ts';
import { shortDayOf } from '#lib/time/moments.ts';

/** Formats the author at a peer and the library: "Alice, Harbour". */
export function originLine({ author, display_name: library }: Origin): string {
  return author === null ? library : `${author}, ${library}`;
}

/** Formats a fingerprint in groups that people can compare. */
export function inGroups(fingerprint: string): string {
  return (fingerprint.match(/.{1,4}/g) ?? []).join(' ');
}

/** Explains the state of a pairing and the next step. */
export function stateOf({ state, accepted_here, accepted_there }: Peer): { label: string; next: string } {
  if (state === 'connected') return { label: 'Connected', next: '' };
  if (state === 'disabled') {
    return {
      label: 'Disabled',
      next: accepted_there ? 'Nothing is sent or received.' : 'The other library has ended the pairing.',
    };
  }
  if (accepted_here) return { label: 'Waiting', next: 'An administrator there still has to accept.' };
  return state === 'pending_inbound'
    ? {
        label: 'Asks to be paired',
        next: 'Compare the fingerprints with the administrator there, then accept.',
      }
    : {
        label: 'Not accepted yet',
        next: 'Compare the fingerprints with the administrator there, then accept.',
      };
}

/** The reasons of the protocol between libraries. */
type RejectionReason = (typeof rejectionErrors)[keyof typeof rejectionErrors]['text'];

const rejections: Readonly<Record<RejectionReason, string>> = {
  invalid_context: 'It follows another version of the protocol.',
  unsigned: 'The request is not signed.',
  envelope_sig_missing: 'Its signature is missing.',
  unsupported_algorithm: 'It is signed with an algorithm that is not supported.',
  sig_malformed: 'Its signature is malformed.',
  sig_invalid: 'Its signature does not match its content.',
  unknown_key: 'The key that signed it is not known.',
  unknown_field: 'It has a property that the protocol does not define.',
  unknown_actor: 'The person who sent it is not known.',
  unknown_peer: 'The sender is not a peer.',
  peer_disabled: 'The connection to the sender is disabled.',
  unknown_object: 'It is about something that does not exist here.',
  unshared_object: 'It is about something that is not shared with the sender.',
  encryption_required: 'It should have been encrypted.',
  encryption_not_supported: 'Nobody here can decrypt it.',
  plaintext_type_mismatch: 'Its encrypted content is not of the announced type.',
  stale_request: 'It is too old, or the clocks differ by more than five minutes.',
  replay: 'It was received before.',
  decrypt_failed: 'It could not be decrypted.',
  malformed: 'It is malformed.',
  unsupported_type: 'It is of a type that is not supported.',
  too_large: 'It is too large.',
  forbidden: 'The sender may not do this.',
};

/** Says why something was refused, by the code of the reason. */
export function rejectionInWords(reason: string): string {
  const known = new Map(Object.entries(rejections));
  return known.get(reason) ?? 'It was refused.';
}

/** Describes the recipients of a share and what they may do. */
export function shareLine({ person, team, scope, expires_at, encrypted, delivered }: PeerShare): string {
  const username = person === null ? null : decodeURIComponent(person.split('/').at(-1) ?? person);
  const who = username ?? (team === null ? 'Everyone there' : `The team ${team.name}`);
  const may = mayText(who, scope, expires_at);
  const all = encrypted ? `${may}, with restricted or mature content` : may;
  return delivered ? all : `${all} (being sent)`;
}

function mayText(who: string, scope: PeerShare['scope'], end: string | null): string {
  if (end === null) return scope === 'comment' ? `${who} can comment` : `${who} can view`;
  const day = shortDayOf(end);
  return scope === 'comment' ? `${who} can comment until ${day}` : `${who} can view until ${day}`;
}

/** Describes an asset that is restricted or mature by its title; one that is withheld by its owner. */
export function sensitiveTitle(member: SensitiveMember): string {
  if ('title' in member) return member.title;
  return member.owner_display_name === undefined ? 'A file' : `A file by ${member.owner_display_name}`;
}

/**
 * Describes why an asset is sensitive, "restricted", "mature" or both, and whether somebody else has to decide about it.
 */
export function whySensitive(member: SensitiveMember): string {
  const reasons =
    'title' in member
      ? [member.restricted ? phrase('restricted') : '', member.mature ? phrase('mature') : '']
      : [phrase('withheld from you')];
  const left = isConfirmable(member) ? '' : phrase('left out: only its owner can share it');
  return [...reasons, left].filter((reason) => reason !== '').join(', ');
}

/** Returns whether the user may confirm that an asset is sent. */
export function isConfirmable(member: SensitiveMember): boolean {
  return 'confirmable' in member && member.confirmable;
}
