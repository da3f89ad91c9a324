-- Claims and turns (SPEC T2-T5). Callers: src/engine/store/claims.ts and turns.ts, which document the JSON that goes in and out.

-- ---- claims ------------------------------------------------------------------------------------------------------------------------

-- What a bot could work on now: one row per due piece of mail, and per piece of mail of a turn whose worker is gone.
-- Sessions that somebody holds are left out.
create function parley_ready_work(bot_id text, moment timestamptz)
returns table (session_id text, mail_rank int, is_direct boolean, unfinished boolean, order_at timestamptz, mail_seq bigint, waits_since timestamptz)
language plpgsql as $$
begin
  return query select work.* from (
    select "sessionId", "rank", "direct", false, "orderAt", "seq", greatest("createdAt", "dueAt")
      from "Mail" where "botId" = bot_id and "state" = 'due' and "dueAt" <= moment
    union all
    select t."sessionId", coalesce(m."rank", 0), coalesce(m."direct", false), true, coalesce(m."orderAt", t."startedAt"), coalesce(m."seq", 0),
        coalesce(m."createdAt", t."startedAt")
      from "Turn" t left join "Mail" m on m."turnId" = t."id" and m."state" = 'taken'
      where t."botId" = bot_id and t."status" in ('running', 'settling')
  ) as work (session_id, mail_rank, is_direct, unfinished, order_at, mail_seq, waits_since)
  join "Session" s on s."id" = work.session_id
  where s."owner" is null or s."leaseUntil" <= moment;
end $$;

-- False when the bot's newest turn served no person: then mail that has aged does not go before people again (SPEC T2: "once").
create function parley_served_people_last(bot_id text) returns boolean language plpgsql as $$
begin
  return coalesce((
    select (select min(m."rank") from "Mail" m where m."turnId" = t."id")
      from "Turn" t where t."botId" = bot_id order by t."startedAt" desc limit 1), 0) = 0;
end $$;

-- Claims the first session in order of the given session's bot, if the bot has a free lane. The bot's row is locked, so claims of one bot
-- happen one after the other in all processes. Without a claim, retryInMs says when a waiting person may open a lane.
create function parley_claim(input jsonb) returns jsonb language plpgsql as $$
declare
  bot_id text;
  lane_limit int;
  moment timestamptz;
  live_claims int;
  ageing interval := parley_ms((input->>'ageingMs')::float8);
  lane_wait interval := parley_ms((input->>'waitMs')::float8);
  aged_first boolean;
  picked text;
begin
  select b."id", b."lanes" into bot_id, lane_limit from "Bot" b
    where b."id" = (select "botId" from "Session" where "id" = input->>'sessionId') and b."retiredAt" is null
    for no key update;
  if bot_id is null then return jsonb_build_object('retryInMs', null); end if;
  moment := parley_now();
  select count(*) into live_claims from "Session" where "botId" = bot_id and "owner" is not null and "leaseUntil" > moment;
  if live_claims = 0 then
    aged_first := parley_served_people_last(bot_id);
    select w.session_id into picked from parley_ready_work(bot_id, moment) w
      order by (aged_first and w.mail_rank > 0 and w.waits_since <= moment - ageing) desc,
        w.mail_rank, w.unfinished desc, w.is_direct desc, w.order_at, w.mail_seq
      limit 1;
  elsif live_claims < lane_limit then
    select w.session_id into picked from parley_ready_work(bot_id, moment) w
      where w.mail_rank = 0 and w.waits_since <= moment - lane_wait
      order by w.unfinished desc, w.is_direct desc, w.order_at, w.mail_seq
      limit 1;
  end if;
  if picked is not null then return parley_hold(picked, input->>'owner', (input->>'leaseMs')::float8); end if;
  if live_claims = 0 or live_claims >= lane_limit then return jsonb_build_object('retryInMs', null); end if;
  return jsonb_build_object('retryInMs', (
    select ceil(1000 * extract(epoch from min(w.waits_since) + lane_wait - moment)) from parley_ready_work(bot_id, moment) w where w.mail_rank = 0));
end $$;

create function parley_hold(session_id text, new_owner text, lease_ms float8) returns jsonb language plpgsql as $$
declare
  held "Session";
begin
  update "Session" set "owner" = new_owner, "fence" = "fence" + 1, "leaseUntil" = parley_now() + parley_ms(lease_ms)
    where "id" = session_id returning * into held;
  return jsonb_build_object('claim',
    jsonb_build_object('sessionId', held."id", 'botId', held."botId", 'owner', held."owner", 'fence', held."fence"));
end $$;

-- ---- the life of a turn ------------------------------------------------------------------------------------------------------------

-- Mail becomes part of the turn. Mail that was cancelled after the worker had read it leaves its trace: a stop stops this turn too,
-- an edit or deletion becomes a steering note instead of the replacement that would otherwise follow.
create function parley_take_mail(of_turn text, at_step int, of_session text, mail_ids jsonb) returns void language plpgsql as $$
declare
  wanted text[] := array(select jsonb_array_elements_text(coalesce(mail_ids, '[]')));
  missed "Mail";
begin
  update "Mail" set "state" = 'taken', "turnId" = of_turn, "step" = at_step
    where "id" = any (wanted) and "sessionId" = of_session and "state" = 'due';
  for missed in select * from "Mail" where "id" = any (wanted) and "sessionId" = of_session and "state" = 'cancelled' loop
    if missed."body" ? 'stoppedBy' then
      update "Turn" set "stopRequestedAt" = parley_now(), "stoppedBy" = missed."body"->>'stoppedBy'
        where "id" = of_turn and "stopRequestedAt" is null;
    elsif missed."body" ? 'amended' then
      update "Mail" set "state" = 'cancelled'
        where "sessionId" = of_session and "entryId" = missed."entryId" and "state" = 'due' and "body"->>'type' in ('message', 'steering');
      update "Mail" set "state" = 'taken', "turnId" = of_turn, "step" = at_step where "id" = missed."id";
      perform parley_steer(missed, missed."body"->>'amended');
    end if;
  end loop;
end $$;

-- Appends to the session's model state; a node that is there already is the same node. Messages come as text, since jsonb would sort their keys.
create function parley_add_nodes(of_session text, nodes jsonb, shown_until int) returns void language plpgsql as $$
begin
  insert into "StateNode" ("hash", "sessionId", "parent", "kind", "body", "createdAt")
    select node->>'hash', of_session, node->>'parent', node->>'kind', (node->>'message')::json, parley_now() from jsonb_array_elements(nodes) as node
    on conflict ("hash") do nothing;
  update "Session" set "stateHead" = coalesce(nodes->-1->>'hash', "stateHead"), "cursor" = greatest("cursor", shown_until), "updatedAt" = parley_now()
    where "id" = of_session;
end $$;

create function parley_begin_turn(input jsonb) returns jsonb language plpgsql as $$
declare
  claim jsonb := input->'claim';
begin
  perform parley_check_claim(claim);
  insert into "Turn" ("id", "sessionId", "botId", "fence", "route", "authority", "status", "progress", "startedAt")
    values (input->>'turnId', claim->>'sessionId', claim->>'botId', (claim->>'fence')::int, input->'route', input->'authority', 'running',
      input->'progress', parley_now())
    on conflict ("id") do nothing;
  perform parley_take_mail(input->>'turnId', 0, claim->>'sessionId', input->'mailIds');
  return (select to_jsonb(t) from "Turn" t where t."id" = input->>'turnId');
end $$;

-- Another attempt after a crash; the turn now belongs to the new claim.
create function parley_resume_turn(input jsonb) returns int language plpgsql as $$
declare
  attempt int;
begin
  perform parley_check_claim(input->'claim');
  update "Turn" set "attempts" = "attempts" + 1, "fence" = (input->'claim'->>'fence')::int
    where "id" = input->>'turnId' and "sessionId" = input->'claim'->>'sessionId' returning "attempts" into attempt;
  if attempt is null then raise exception 'There is no turn % in this session', input->>'turnId' using errcode = 'no_data_found'; end if;
  return attempt;
end $$;

create function parley_commit_input(input jsonb) returns void language plpgsql as $$
declare
  session_id text := input->'claim'->>'sessionId';
  turn_step int;
begin
  perform parley_check_claim(input->'claim');
  perform parley_add_nodes(session_id, input->'nodes', (input->>'cursor')::int);
  update "Turn" set "progress" = input->'progress', "authority" = coalesce(input->'authority', "authority"), "route" = coalesce(input->'route', "route")
    where "id" = input->>'turnId' and "sessionId" = session_id returning "step" into turn_step;
  perform parley_take_mail(input->>'turnId', turn_step, session_id, input->'mailIds');
end $$;

-- The model's reply is kept before any of its calls runs (SPEC T4).
create function parley_commit_reply(input jsonb) returns void language plpgsql as $$
begin
  perform parley_check_claim(input->'claim');
  perform parley_add_nodes(input->'claim'->>'sessionId', jsonb_build_array(input->'node'), 0);
  update "Turn" set "step" = greatest("step", (input->>'step')::int), "progress" = input->'progress' where "id" = input->>'turnId';
  insert into "ToolCall" ("turnId", "step", "index", "callId", "name", "args", "state")
    select input->>'turnId', (input->>'step')::int, n - 1, call->>'id', call->>'name', call, 'pending'
    from jsonb_array_elements(input->'calls') with ordinality as asked (call, n)
    on conflict ("turnId", "step", "index") do nothing;
end $$;

create function parley_start_call(input jsonb) returns void language plpgsql as $$
begin
  perform parley_check_claim(input->'claim');
  update "ToolCall" set "state" = 'started', "startedAt" = parley_now()
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int and "state" = 'pending';
end $$;

-- The first result of a call stays.
create function parley_commit_call(input jsonb) returns void language plpgsql as $$
begin
  perform parley_check_claim(input->'claim');
  update "ToolCall" set "state" = 'done', "result" = input->'result'
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int and "state" <> 'done';
  perform parley_move_progress(input->>'turnId', input->'progress');
end $$;

create function parley_move_progress(of_turn text, new_progress jsonb) returns void language plpgsql as $$
begin
  update "Turn" set "progress" = new_progress, "waitingCardId" = new_progress->>'waitingCardId' where "id" = of_turn;
end $$;

-- A call says a bubble: entry, pieces, card, counters and the call's link to it, once. Its result follows when the pieces have closed.
create function parley_commit_send(input jsonb) returns jsonb language plpgsql as $$
declare
  known_entry text;
  said "Entry";
begin
  perform parley_open_conversation(input->'delivery'->>'conversationKey', input->'delivery'->'place'->'ref');
  perform parley_check_claim(input->'claim');
  select "entryId" into known_entry from "ToolCall"
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int;
  if not found then raise exception 'There is no call % of turn %', input->>'index', input->>'turnId' using errcode = 'no_data_found'; end if;
  if known_entry is not null then return (select to_jsonb(e) from "Entry" e where e."id" = known_entry); end if;
  said := parley_say(input->'delivery', input->>'turnId');
  update "ToolCall" set "entryId" = said."id", "state" = case "state" when 'pending' then 'started' else "state" end,
      "startedAt" = coalesce("startedAt", parley_now())
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int;
  perform parley_move_progress(input->>'turnId', input->'progress');
  return to_jsonb(said);
end $$;

-- The end of a turn and of the claim: mail done, what is owed left behind, session free.
create function parley_finish_turn(input jsonb) returns void language plpgsql as $$
declare
  session_id text := input->'claim'->>'sessionId';
  host_card jsonb;
  follow_up jsonb;
begin
  for host_card in select value from jsonb_array_elements(coalesce(input->'hostCards', '[]')) order by value->>'conversationKey' loop
    perform parley_open_conversation(host_card->>'conversationKey', host_card->'place'->'ref');
  end loop;
  perform parley_check_claim(input->'claim');
  perform parley_add_nodes(session_id, input->'nodes', 0);
  update "Turn" set "status" = input->>'status', "outcome" = input->>'outcome', "endedAt" = parley_now() where "id" = input->>'turnId';
  perform parley_move_progress(input->>'turnId', input->'progress');
  update "Mail" set "state" = 'done' where "turnId" = input->>'turnId' and "state" = 'taken';
  update "Mail" set "state" = 'cancelled'
    where "sessionId" = session_id and "state" = 'due' and "authorId" = input->>'cancelMailOf';
  for follow_up in select value from jsonb_array_elements(coalesce(input->'mail', '[]')) loop
    perform parley_add_mail(session_id, null, follow_up);
  end loop;
  for host_card in select value from jsonb_array_elements(coalesce(input->'hostCards', '[]')) loop
    perform parley_say(host_card, input->>'turnId');
  end loop;
  update "Session" set "owner" = null, "leaseUntil" = null where "id" = session_id;
end $$;
