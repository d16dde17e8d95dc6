import { Type } from 'typebox';
import {
  isMediaType,
  mostUriCharacters,
  type ObjectKind,
  parseActivityUri,
  parseActorUri,
  parseCasUri,
  parseCommentUri,
  parseInstanceUrl,
  parseObjectUri,
} from './addresses.ts';

/** A string that `check` accepts. */
function address(check: (text: string) => boolean) {
  return Type.Refine(Type.String({ maxLength: mostUriCharacters }), check, () => 'is no such address');
}

/** RFC 3339 between the years 1000 and 8999, which PostgreSQL and JavaScript store alike; without leap seconds. */
export const Time = Type.String({
  format: 'date-time',
  pattern: '^[1-8]\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-4]):[0-5]\\d)$',
});

export const InstanceUrl = address((text) => parseInstanceUrl(text) === text);
export const ActorUri = address((text) => parseActorUri(text) !== null);
export const ActivityUri = address((text) => parseActivityUri(text) !== null);
export const CasUri = address((text) => parseCasUri(text) !== null);
export const ObjectUri = address((text) => parseObjectUri(text) !== null);
export const CommentUri = address((text) => parseCommentUri(text) !== null);
export const MediaType = Type.Refine(Type.String({ maxLength: 255 }), isMediaType, () => 'is no media type');

/** The address of an object of one of these kinds. */
export function objectUriOf(...kinds: readonly ObjectKind[]) {
  return address((text) => {
    const found = parseObjectUri(text);
    return found !== null && kinds.includes(found.kind);
  });
}

/** The address of a post or of a comment. */
export const PostOrCommentUri = address(
  (text) => parseObjectUri(text)?.kind === 'posts' || parseCommentUri(text) !== null,
);
/** The address of an object or of a comment. */
export const ThingUri = address((text) => parseObjectUri(text) !== null || parseCommentUri(text) !== null);

/** The address of an object of one of these kinds, or of a person. */
export function objectOrActorUri(...kinds: readonly ObjectKind[]) {
  return address((text) => {
    const found = parseObjectUri(text);
    return found === null ? parseActorUri(text) !== null : kinds.includes(found.kind);
  });
}

/** Text of at most this many characters. */
export function text(maxLength: number) {
  return Type.String({ maxLength });
}

/** 32 bytes, 24 bytes or any number of them as unpadded base64url. */
export const Base64Url = {
  key: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  nonce: Type.String({ pattern: '^[A-Za-z0-9_-]{32}$' }),
  bytes: Type.String({ minLength: 1, maxLength: 1_000_000, pattern: '^[A-Za-z0-9_-]+$' }),
};
