-- An Undo may name the Follow by its id alone; null for followers from before.
alter table activitypub_followers add column activity_uri text
  constraint activitypub_followers_activity_uri_check check (char_length(activity_uri) <= 500);
