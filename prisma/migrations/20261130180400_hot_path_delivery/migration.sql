-- Delivery: one sender per native channel, pieces in order (SPEC T3). Caller: src/engine/store/outbox.ts.

-- Takes a channel that is free or whose sender's lease has run out; its holder may claim again to go on with it. Null when another holds it.
create function parley_claim_sender(input jsonb) returns jsonb language plpgsql as $$
declare
  lease timestamptz := parley_now() + parley_ms((input->>'leaseMs')::float8);
  held "SenderClaim";
begin
  insert into "SenderClaim" ("nativeChannel", "owner", "leaseUntil", "fence") values (input->>'nativeChannel', '', '-infinity', 0)
    on conflict ("nativeChannel") do nothing;
  select * into held from "SenderClaim" where "nativeChannel" = input->>'nativeChannel' for update;
  if held."owner" = input->>'owner' and held."leaseUntil" > parley_now() then
    update "SenderClaim" set "leaseUntil" = lease where "nativeChannel" = held."nativeChannel";
    return jsonb_build_object('fence', held."fence", 'takenOver', false);
  end if;
  if held."owner" <> '' and held."leaseUntil" > parley_now() then return null; end if;
  update "SenderClaim" set "owner" = input->>'owner', "leaseUntil" = lease, "fence" = held."fence" + 1 where "nativeChannel" = held."nativeChannel";
  return jsonb_build_object('fence', held."fence" + 1, 'takenOver', held."owner" <> '');
end $$;

-- Locks the sender's claim; error FL001 when it has passed to somebody else.
create function parley_check_sender(sender jsonb) returns void language plpgsql as $$
begin
  perform 1 from "SenderClaim"
    where "nativeChannel" = sender->>'nativeChannel' and "owner" = sender->>'owner' and "fence" = (sender->>'fence')::int
    for no key update;
  if not found then
    raise exception 'Another sender holds channel %', sender->>'nativeChannel' using errcode = 'FL001';
  end if;
end $$;

create function parley_start_piece(input jsonb) returns void language plpgsql as $$
begin
  perform parley_check_sender(input->'sender');
  update "OutboxPiece" set "state" = 'sending', "attempts" = "attempts" + 1, "attemptedAt" = parley_now()
    where "id" = input->>'pieceId' and "nativeChannel" = input->'sender'->>'nativeChannel' and "state" in ('due', 'sending');
  if not found then raise exception 'Piece % is not open in this channel', input->>'pieceId' using errcode = 'no_data_found'; end if;
end $$;

create function parley_save_piece_progress(input jsonb) returns void language plpgsql as $$
begin
  perform parley_check_sender(input->'sender');
  update "OutboxPiece" set "progress" = coalesce(input->'progress', '{}') where "id" = input->>'pieceId' and "state" in ('due', 'sending');
end $$;

-- How an attempt ended. A piece that failed for good takes the rest of its entry with it. Closing the last piece closes the entry.
create function parley_close_piece(input jsonb) returns jsonb language plpgsql as $$
declare
  close jsonb := input->'close';
  piece "OutboxPiece";
begin
  perform parley_check_sender(input->'sender');
  select * into piece from "OutboxPiece" where "id" = input->>'pieceId';
  if piece."id" is null then raise exception 'There is no piece %', input->>'pieceId' using errcode = 'no_data_found'; end if;
  if piece."state" in ('due', 'sending') then
    case close->>'to'
      when 'sent' then
        update "OutboxPiece" set "state" = 'sent', "receipt" = close->'receipt', "nativeId" = close->'receipt'->>'nativeId', "error" = null,
          "closedAt" = parley_now() where "id" = piece."id";
      when 'failed' then
        update "OutboxPiece" set "state" = 'failed', "closedAt" = parley_now(),
          "error" = jsonb_build_object('problem', close->>'problem', 'text', close->>'text')
          where "entryId" = piece."entryId" and "index" >= piece."index" and "state" in ('due', 'sending');
      else
        update "OutboxPiece" set "state" = 'due', "dueAt" = parley_now() + parley_ms((close->>'delayMs')::float8),
          "error" = jsonb_build_object('lookUp', (close->>'lookUp')::boolean, 'text', close->>'text') where "id" = piece."id";
    end case;
  end if;
  return parley_close_entry(piece."entryId");
end $$;

-- When no piece of the entry is open any more: the entry takes the native id of its first piece, and whoever must be told is named.
create function parley_close_entry(entry_id text) returns jsonb language plpgsql as $$
declare
  is_open boolean;
  has_failed boolean;
  first_native text;
  said "Entry";
  told_session text;
begin
  select coalesce(bool_or("state" in ('due', 'sending')), false), coalesce(bool_or("state" = 'failed'), false)
    into is_open, has_failed from "OutboxPiece" where "entryId" = entry_id;
  if not is_open then
    select "nativeId" into first_native from "OutboxPiece"
      where "entryId" = entry_id and "nativeId" is not null order by "index" limit 1;
    select * into said from "Entry" where "id" = entry_id;
    perform 1 from "Conversation" where "key" = said."conversationKey" for no key update;
    perform parley_name_entry(said, first_native);
  end if;
  if has_failed and not is_open then
    select t."sessionId" into told_session from "Turn" t where t."id" = said."turnId" and t."status" in ('done', 'failed');
    -- Nobody can answer a card that never appeared; what appeared in part is redrawn.
    update "Card" set "state" = 'expired', "settleOwed" = first_native is not null, "settleDueAt" = parley_now()
      where "entryId" = entry_id and "state" = 'open';
  end if;
  return jsonb_build_object('entryId', entry_id, 'entryClosed', not is_open, 'failed', has_failed, 'sessionId', told_session,
    'settleOwed', exists (select from "Card" where "entryId" = entry_id and "settleOwed"));
end $$;

-- History that was loaded while the piece was under way may hold our own message as context: the bubble is the better copy.
create function parley_name_entry(said "Entry", native_id text) returns void language plpgsql as $$
begin
  if said."platformId" is not null or native_id is null then return; end if;
  delete from "Entry" where "conversationKey" = said."conversationKey" and "platformId" = native_id and "kind" = 'context';
  update "Entry" set "platformId" = native_id
    where "id" = said."id"
      and not exists (select from "Entry" where "conversationKey" = said."conversationKey" and "platformId" = native_id);
end $$;
