-- Since when an invitation is open: sending an expired one again opens it for as long as before (INVITE-5). Counted from
-- its creation, it was open longer each time, also for more than the 90 days of INVITE-2.
alter table invitations add column opened_at timestamptz(3) not null default now();

update invitations set opened_at = created_at;
