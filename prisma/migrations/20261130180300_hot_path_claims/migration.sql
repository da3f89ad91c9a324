-- Claims (SPEC T2, T3): which session a worker may run, and which sessions to ring for. Caller: src/engine/store/claims.ts.

create function parley_runs(platforms jsonb, conversation_key text) returns boolean language plpgsql as $$
begin
  return platforms is null or platforms ? (select "platform" from "Conversation" where "key" = conversation_key);
end $$;

-- What a bot could work on now: one row per due piece of mail, and per piece of mail of a turn whose worker is gone.
-- Sessions that somebody holds are left out, and those on platforms that the caller does not run (null: it runs all).
create function parley_ready_work(bot_id text, moment timestamptz, platforms jsonb)
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
  where (s."owner" is null or s."leaseUntil" <= moment) and parley_runs(platforms, s."conversationKey");
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
  platforms jsonb := input->'platforms';
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
    select w.session_id into picked from parley_ready_work(bot_id, moment, platforms) w
      order by (aged_first and w.mail_rank > 0 and w.waits_since <= moment - ageing) desc,
        w.mail_rank, w.unfinished desc, w.is_direct desc, w.order_at, w.mail_seq
      limit 1;
  elsif live_claims < lane_limit then
    select w.session_id into picked from parley_ready_work(bot_id, moment, platforms) w
      where w.mail_rank = 0 and w.waits_since <= moment - lane_wait
      order by w.unfinished desc, w.is_direct desc, w.order_at, w.mail_seq
      limit 1;
  end if;
  if picked is not null then return parley_hold(picked, input->>'owner', (input->>'leaseMs')::float8); end if;
  if live_claims = 0 or live_claims >= lane_limit then return jsonb_build_object('retryInMs', null); end if;
  return jsonb_build_object('retryInMs', (
    select ceil(1000 * extract(epoch from min(w.waits_since) + lane_wait - moment)) from parley_ready_work(bot_id, moment, platforms) w where w.mail_rank = 0));
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

-- Keeps a claim alive and tells what happened meanwhile; null when it is lost. The lease is written only when a third of it has passed, so that
-- a worker may ask often.
create function parley_renew(input jsonb) returns jsonb language plpgsql as $$
declare
  lease interval := parley_ms((input->>'leaseMs')::float8);
  held "Session";
begin
  select * into held from "Session"
    where "id" = input->'claim'->>'sessionId' and "owner" = input->'claim'->>'owner' and "fence" = (input->'claim'->>'fence')::int;
  if held."leaseUntil" < parley_now() + lease * 2 / 3 then
    update "Session" set "leaseUntil" = parley_now() + lease
      where "id" = held."id" and "owner" = held."owner" and "fence" = held."fence" returning * into held;
  end if;
  if held."id" is null then return null; end if;
  return jsonb_build_object('held', true,
    'stopRequested', exists (select from "Turn" t
      where t."sessionId" = held."id" and t."status" in ('running', 'settling') and t."stopRequestedAt" is not null),
    'mailDue', exists (select from "Mail" m where m."sessionId" = held."id" and m."state" = 'due' and m."dueAt" <= now()));
end $$;

-- Sessions to ring, one for each bot, most urgent first. A bot that is busy is rung only for people, who may open a lane; other work waits
-- until the bot's session ends and the worker looks for more by itself.
create function parley_due_sessions(input jsonb) returns jsonb language plpgsql as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('sessionId', due."sessionId", 'rank', due."rank") order by due."rank", due."orderAt"), '[]')
    from (select * from (
      select distinct on (b."id") work.*
      from (
        select "sessionId", "botId", "rank", "orderAt" from "Mail" where "state" = 'due' and "dueAt" <= now()
        union all
        select t."sessionId", t."botId", coalesce((select min(m."rank") from "Mail" m where m."turnId" = t."id"), 0), t."startedAt"
          from "Turn" t where t."status" in ('running', 'settling')
      ) as work
      join "Bot" b on b."id" = work."botId" and b."retiredAt" is null
      join "Session" s on s."id" = work."sessionId" and (s."owner" is null or s."leaseUntil" <= now())
      where parley_runs(input->'platforms', s."conversationKey") and (work."rank" = 0 or not exists (
        select from "Session" held where held."botId" = b."id" and held."owner" is not null and held."leaseUntil" > now()))
      order by b."id", work."rank", work."orderAt"
    ) as first order by "rank", "orderAt" limit (input->>'limit')::int) as due);
end $$;
