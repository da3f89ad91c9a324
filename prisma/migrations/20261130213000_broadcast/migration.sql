-- One message of a person to all bots (SPEC A3). Caller: src/engine/store/intake.ts.

-- The message is taken in as any other; every further bot gets it as an entry and as mail of rank bot in its conversation with the session of the bot it
-- was written to, all in one transaction. `sessionMark` stands for that session's id.
create function parley_broadcast(input jsonb) returns jsonb language plpgsql as $$
declare
  taken jsonb := parley_take_in(input->'intake');
  told jsonb := '[]';
  skipped jsonb := '[]';
  mail jsonb;
  asking_id text;
  receiver jsonb;
  target_id text;
  target "Session";
  heard "Entry";
begin
  if taken->>'status' <> 'stored' then return taken || jsonb_build_object('sessionIds', told, 'skipped', skipped); end if;
  select "id" into asking_id from "Session" where "botId" = input->>'botId' and "conversationKey" = input->'intake'->>'conversationKey';
  mail := replace((input->'mail')::text, input->>'sessionMark', asking_id)::jsonb;
  for receiver in
    select replace(value::text, input->>'sessionMark', asking_id)::jsonb from jsonb_array_elements(input->'receivers')
      order by value->>'conversationKey'
  loop
    perform parley_open_conversation(receiver->>'conversationKey', receiver->'ref');
    target_id := parley_open_session(receiver->>'botId', receiver->>'conversationKey', null);
    select * into target from "Session" where "id" = target_id;
    if (select count(*) from "Mail" where "sessionId" = target."id" and "state" = 'due') >= (input->>'mailLimit')::int then
      skipped := skipped || jsonb_build_array(receiver->>'botId');
      continue;
    end if;
    heard := parley_add_entry(receiver->>'conversationKey', 'peer', jsonb_build_object('id', gen_random_uuid()::text,
      'author', jsonb_build_object('kind', 'person') || (input->'author'), 'kind', 'message', 'at', parley_now(), 'text', input->>'text',
      'body', '{}'::jsonb, 'files', '[]'::jsonb));
    perform parley_add_peer_mail(target, heard."id", input->'author'->>'id', mail, input->>'audience', 1, false);
    told := told || jsonb_build_array(target."id");
  end loop;
  return taken || jsonb_build_object('sessionIds', told, 'skipped', skipped);
end $$;
