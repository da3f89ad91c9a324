-- A person's new message must know which members are at work on a turn of the discussion that goes on (SPEC G7): a session may also be at work on an
-- answer of a teammate or of a card meanwhile. Caller: src/engine/store/intake.ts.

-- As before, with the discussion of each session's running turn.
create or replace function parley_read_place(input jsonb) returns jsonb language plpgsql as $$
declare
  conversation_key text := input->>'conversationKey';
  here "Channel";
begin
  select * into here from "Channel" where "id" = input->>'channelRowId';
  return jsonb_build_object(
    'conversation', (select to_jsonb(c) from "Conversation" c where c."key" = conversation_key),
    'channel', case when here."id" is not null then to_jsonb(here) end,
    'discussion', (select to_jsonb(d) from "Discussion" d where d."threadKey" = conversation_key and d."endReason" is null),
    'sessions', (
      select coalesce(jsonb_agg(jsonb_build_object('sessionId', s."id", 'botId', s."botId", 'running', exists (
        select from "Turn" t where t."sessionId" = s."id" and t."status" in ('running', 'settling')), 'discussionId', (
        select t."discussionId" from "Turn" t where t."sessionId" = s."id" and t."status" in ('running', 'settling') limit 1)) order by s."createdAt", s."id"), '[]')
      from "Session" s where s."conversationKey" = conversation_key),
    'cards', (
      select coalesce(jsonb_agg(to_jsonb(k) order by k."createdAt", k."id"), '[]') from "Card" k
      where k."conversationKey" = conversation_key and k."state" = 'open' and (k."expiresAt" is null or k."expiresAt" > parley_now())),
    'bots', (
      select coalesce(jsonb_agg(jsonb_build_object('bot', to_jsonb(b), 'installation', to_jsonb(i) || jsonb_build_object(
        'botId', a."botId", 'platform', a."platform", 'appId', a."appId")) order by b."createdAt", b."id", i."id"), '[]')
      from "Bot" b join "Account" a on a."botId" = b."id" join "Installation" i on i."accountId" = a."id"
      where b."retiredAt" is null and (i."id" = input->>'installationId'
        or (b."id" = any (here."members") and a."platform" = input->'ref'->>'platform' and i."workspaceId" = input->'ref'->>'workspaceId'))),
    'mark', (select "outcome" from "InboundMark" where "key" = input->>'dedupeKey'));
end $$;
