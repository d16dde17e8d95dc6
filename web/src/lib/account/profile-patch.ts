import type { BodyOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { AccountProfile } from '@vitrine/contract/users';

export type ProfilePatch = BodyOf<Operations['updateUser']>;

/** A link in the form of a profile. */
export interface LinkDraft {
  label: string;
  url: string;
}

/** A profile in its form; a missing value is an empty text. */
export interface ProfileDraft {
  readonly display_name: string;
  readonly fullname: string;
  readonly email: string;
  readonly bio: string;
  readonly hide_from_anonymous: boolean;
  readonly links: LinkDraft[];
}

export function draftOf(profile: AccountProfile): ProfileDraft {
  return {
    display_name: profile.display_name ?? '',
    fullname: profile.fullname ?? '',
    email: profile.email ?? '',
    bio: profile.bio,
    hide_from_anonymous: profile.hide_from_anonymous,
    links: profile.links.map((link) => ({ ...link })),
  };
}

/** Returns the changes that turn the profile into the draft; emptied values are cleared with `clear_*` (HTTP-17). */
export function profilePatch(before: AccountProfile, draft: ProfileDraft): ProfilePatch {
  const kept = draftOf(before);
  const displayName = draft.display_name.trim();
  const fullname = draft.fullname.trim();
  const email = draft.email.trim();
  const patch: ProfilePatch = {};
  if (displayName !== kept.display_name) {
    if (displayName === '') patch.clear_display_name = true;
    else patch.display_name = displayName;
  }
  if (fullname !== kept.fullname) {
    if (fullname === '') patch.clear_fullname = true;
    else patch.fullname = fullname;
  }
  if (email !== kept.email) {
    if (email === '') patch.clear_email = true;
    else patch.email = email;
  }
  if (draft.bio !== kept.bio) patch.bio = draft.bio;
  if (draft.hide_from_anonymous !== kept.hide_from_anonymous) {
    patch.hide_from_anonymous = draft.hide_from_anonymous;
  }
  const links = draft.links.map(({ label, url }) => ({ label: label.trim(), url: url.trim() }));
  if (JSON.stringify(links) !== JSON.stringify(before.links.map(({ label, url }) => ({ label, url }))))
    patch.links = links;
  return patch;
}
