-- The newest accounts, for a search that asks for nothing: all of them were put in order for a page.
create index users_newest on users (created_at desc, ref desc);
