-- The newest accounts, for an empty search, which otherwise sorts all accounts for a page.
create index users_newest on users (created_at desc, ref desc);
