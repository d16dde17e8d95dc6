-- USER-18: after this time an account is as if it were disabled.
alter table users add column expires_at timestamptz(3);
create index users_expiry on users (expires_at) where expires_at is not null;

-- SESSION-16: failed sign-ins of an account, the newest only; successful ones are in the audit log.
create table failed_sign_ins (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  at timestamptz(3) not null default now(),
  method text not null,
  address text not null,
  user_agent text
);
create index failed_sign_ins_user on failed_sign_ins (user_ref, at desc, id desc);
create index audit_events_signed_in on audit_events (subject_user_ref, occurred_at desc) where event = 'auth.signed_in';
