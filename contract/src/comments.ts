import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { closed, nullable, Timestamp, Uuid } from './values.ts';

/** spec 2.6. */
export const CommentPreview = closed({
  id: Uuid,
  body: Type.String(),
  created_at: Timestamp,
  author: Type.Optional(PostAuthor),
  remote_display_name: Type.Optional(nullable(Type.String())),
});
export type CommentPreview = Static<typeof CommentPreview>;
