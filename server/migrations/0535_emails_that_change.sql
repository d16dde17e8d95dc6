-- Whatever changes the e-mail of an account ends the confirmation of another one that is pending (EMAIL-1), which would
-- otherwise replace the new e-mail: administrators, CSV files, directories and providers change it, too.
create function end_pending_email() returns trigger language plpgsql as $$
begin
  delete from account_links where user_ref = new.ref and purpose = 'verify_email';
  return null;
end $$;

create trigger users_pending_email after update of email on users for each row
  when (new.email is distinct from old.email) execute function end_pending_email();
