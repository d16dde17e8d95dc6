-- BOARD-10: readers of a post are told of its whiteboards while they look at it.
create function tell_of_whiteboards() returns trigger language plpgsql as $$
declare
  board whiteboards := coalesce(new, old);
begin
  perform tell_post(board.post_id, 'whiteboard ' || board.id);
  return null;
end
$$;
create trigger whiteboards_told after insert or update or delete on whiteboards
  for each row execute function tell_of_whiteboards();
