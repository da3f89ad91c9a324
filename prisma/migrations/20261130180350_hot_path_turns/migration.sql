-- The life of a turn (SPEC T3-T5). Caller: src/engine/store/turns.ts.

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

-- Mail as the engine reads it: an author's name as it was when the entry was written, else as it is known now.
create function parley_mail_view(mail "Mail") returns jsonb language plpgsql as $$
begin
  return to_jsonb(mail) || jsonb_build_object('authorName', coalesce(
    (select "authorName" from "Entry" where "id" = mail."entryId" and "authorId" = mail."authorId"),
    (select "name" from "Person" where "id" = mail."authorId"),
    (select "name" from "Bot" where "id" = mail."authorId")));
end $$;

-- Everything a worker needs to go on with a session. Error FL001 when its claim is lost. Reads only, so it takes no lock.
create function parley_view_session(input jsonb) returns jsonb language plpgsql as $$
declare
  held "Session";
  turn "Turn";
begin
  select * into held from "Session"
    where "id" = input->'claim'->>'sessionId' and "owner" = input->'claim'->>'owner' and "fence" = (input->'claim'->>'fence')::int;
  if held."id" is null then
    raise exception 'The claim on session % is no longer held', input->'claim'->>'sessionId' using errcode = 'FL001';
  end if;
  select * into turn from "Turn" where "sessionId" = held."id" and "status" in ('running', 'settling') order by "startedAt" desc limit 1;
  return jsonb_build_object(
    'session', to_jsonb(held),
    'bot', (select to_jsonb(b) from "Bot" b where b."id" = held."botId"),
    'conversation', (
      select to_jsonb(place) || jsonb_build_object('channelName', ch."name")
      from "Conversation" place left join "Channel" ch on ch."platform" = place."platform" and ch."workspaceId" = place."workspaceId"
        and ch."channelId" = place."channelId"
      where place."key" = held."conversationKey"),
    'installation', (
      select to_jsonb(i) || jsonb_build_object('botId', a."botId", 'platform', a."platform", 'appId', a."appId")
      from "Installation" i join "Account" a on a."id" = i."accountId" where i."id" = held."installationId"),
    'turn', case when turn."id" is not null then to_jsonb(turn) end,
    'calls', (select coalesce(jsonb_agg(to_jsonb(c) order by c."index"), '[]') from "ToolCall" c where c."turnId" = turn."id" and c."step" = turn."step"),
    'due', (
      select coalesce(jsonb_agg(parley_mail_view(m) order by m."rank", m."orderAt", m."seq"), '[]') from (
        select * from "Mail" where "sessionId" = held."id" and "state" = 'due' and "dueAt" <= now() order by "rank", "orderAt", "seq" limit 50) as m),
    'taken', (
      select coalesce(jsonb_agg(parley_mail_view(m) order by m."orderAt", m."seq"), '[]')
      from "Mail" m where m."turnId" = turn."id" and m."state" = 'taken'));
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
  perform parley_add_nodes(claim->>'sessionId', coalesce(input->'nodes', '[]'), coalesce((input->>'cursor')::int, 0));
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
