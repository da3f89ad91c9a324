/**
 * The conversation's lines in order: posts, private lines, and what is on its way. Keeps the newest in view while one reads at the end, and the
 * place while older posts are loaded above.
 */

import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { WireChannel, WirePost } from "../wire.ts";
import { EmptyLog } from "./empty-log.tsx";
import { DownIcon, LockIcon } from "./icons.tsx";
import { type Aside, type Model, type Timeline, timelineOf } from "./model.ts";
import { OutgoingPost } from "./outgoing-post.tsx";
import type { Playground } from "./playground.ts";
import { Post } from "./post.tsx";
import { dayOf, sameDay } from "./time.ts";
import { useModel } from "./use-model.ts";

const NEAR_END_PX = 80;
const GROUP_MS = 5 * 60_000;

/** The scrolling log. */
export function Log({ playground, channel }: { playground: Playground; channel: WireChannel }) {
  const model = useModel(playground);
  const timeline = timelineOf(model, channel.id);
  const outgoing = model.outgoing.filter((item) => item.channelId === channel.id);
  const { box, content, away, toEnd, onScroll } = useStickyEnd(timeline, outgoing.length, () =>
    playground.loadOlder(channel.id),
  );
  const empty = timeline.loaded && timeline.posts.length === 0 && outgoing.length === 0;
  const onClick = (event: MouseEvent) => copyCode(event.target);
  return (
    <div class="log-frame">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the click comes from real buttons inside rendered Markdown. */}
      <div
        ref={box}
        class="log"
        role="log"
        aria-live="polite"
        aria-label={`Conversation ${channel.kind === "direct" ? "with" : "in"} ${channel.name}`}
        aria-busy={!timeline.loaded}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable to scroll it by keyboard.
        tabIndex={0}
        onScroll={onScroll}
        onClick={onClick}
      >
        <div ref={content} class="log-content">
          {!timeline.loaded && <p class="loading">Loading…</p>}
          {timeline.more && <p class="loading">Scroll up for earlier messages</p>}
          {empty && <EmptyLog playground={playground} channel={channel} />}
          <Lines playground={playground} model={model} timeline={timeline} channel={channel} />
          {outgoing.map((item) => (
            <OutgoingPost key={item.clientId} playground={playground} item={item} me={model.me} />
          ))}
        </div>
      </div>
      {away && (
        <button type="button" class="to-end" onClick={toEnd}>
          <DownIcon />
          Newest
        </button>
      )}
    </div>
  );
}

function Lines(props: { playground: Playground; model: Model; timeline: Timeline; channel: WireChannel }) {
  const { model, timeline, channel } = props;
  const asides = model.asides.filter((aside) => aside.channelId === channel.id);
  const firstUnread = timeline.posts.find((post) => post.seq > model.unreadFrom && post.author.id !== model.me?.id);
  const early = asides.filter((aside) => aside.after < (timeline.posts[0]?.seq ?? Number.POSITIVE_INFINITY));
  return (
    <>
      {early.map((aside) => (
        <AsideLine key={aside.id} aside={aside} />
      ))}
      {timeline.posts.map((post, index) => {
        const before = timeline.posts[index - 1];
        const after = timeline.posts[index + 1];
        const newDay = !before || !sameDay(before.at, post.at);
        const unread = post === firstUnread;
        const joined = !newDay && !unread && before !== undefined && isJoined(before, post);
        const own = asides.filter((one) => one.after >= post.seq && (!after || one.after < after.seq));
        return (
          <Fragment key={post.seq}>
            {newDay && <h2 class="day">{dayOf(post.at)}</h2>}
            {unread && <p class="unread-line">New</p>}
            <Post
              playground={props.playground}
              post={post}
              joined={joined}
              mine={post.author.id === model.me?.id}
              answered={answeredPost(timeline.posts, index)}
            />
            {own.map((aside) => (
              <AsideLine key={aside.id} aside={aside} />
            ))}
          </Fragment>
        );
      })}
    </>
  );
}

/** A post right after one of the same author needs no second name. */
function isJoined(before: WirePost, post: WirePost): boolean {
  return before.author.id === post.author.id && Date.parse(post.at) - Date.parse(before.at) < GROUP_MS;
}

/** The post an answer refers to, when it is not obvious: somebody else wrote in between. */
function answeredPost(posts: readonly WirePost[], index: number): WirePost | undefined {
  const post = posts[index];
  if (!post?.replyTo) return undefined;
  const lastFromPerson = posts.slice(0, index).findLast((one) => one.author.kind === "person");
  return lastFromPerson?.seq === post.replyTo ? undefined : posts.find((one) => one.seq === post.replyTo);
}

function AsideLine({ aside }: { aside: Aside }) {
  return (
    <p class="private-line">
      <LockIcon />
      <span>
        {aside.text} <small>Only you see this.</small>
      </span>
    </p>
  );
}

function useStickyEnd(timeline: Timeline, ownCount: number, loadOlder: () => void) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const height = useRef(0);
  const top = useRef(0);
  const [away, setAway] = useState(false);
  const toEnd = () => {
    atEnd.current = true;
    setAway(false);
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  // Pictures and cards change their height after they were drawn.
  useEffect(() => {
    const watcher = new ResizeObserver(() => atEnd.current && box.current?.scrollTo({ top: box.current.scrollHeight }));
    for (const element of [box.current, content.current]) if (element) watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  // Older posts push everything down; the reader's place is kept.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (!atEnd.current && height.current > 0) element.scrollTop += element.scrollHeight - height.current;
    height.current = element.scrollHeight;
  }, [timeline.first]);
  // What one writes oneself is always brought into view.
  useEffect(() => {
    if (ownCount > 0) toEnd();
  }, [ownCount]);
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    // Only moving up leaves the end; content that grows below does not.
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    atEnd.current = near || (atEnd.current && element.scrollTop >= top.current);
    top.current = element.scrollTop;
    height.current = element.scrollHeight;
    setAway(!atEnd.current);
    if (element.scrollTop < 200 && timeline.more) loadOlder();
  };
  return { box, content, away, toEnd, onScroll };
}

/** The Copy buttons inside rendered Markdown. */
function copyCode(target: EventTarget | null): void {
  const button = target instanceof Element ? target.closest<HTMLButtonElement>("button[data-copy]") : null;
  const code = button?.closest("figure")?.querySelector("code")?.textContent;
  if (!button || code === null || code === undefined) return;
  const say = (text: string) => {
    button.textContent = text;
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  };
  navigator.clipboard.writeText(code).then(
    () => say("Copied"),
    () => say("Not allowed here"),
  );
}
