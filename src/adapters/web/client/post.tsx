/** One post: who, when, and its content by type, with reactions and the post it answers. */

import type { WireContent, WirePost } from "../wire.ts";
import { AgentCard } from "./agent-card.tsx";
import { Avatar } from "./avatar.tsx";
import { FileCard } from "./file-card.tsx";
import { HostCardView } from "./host-card.tsx";
import { ImageGrid } from "./images.tsx";
import { Markdown } from "./markdown.tsx";
import type { Playground } from "./playground.ts";
import { SecretCard } from "./secret-card.tsx";
import { clockOf } from "./time.ts";
import { WidgetCard } from "./widget-card.tsx";

interface Props {
  readonly playground: Playground;
  readonly post: WirePost;
  /** Right below a post of the same author. */
  readonly joined: boolean;
  readonly mine: boolean;
  /** The post it answers, when worth showing. */
  readonly answered: WirePost | undefined;
}

/** A post in the log. */
export function Post({ playground, post, joined, mine, answered }: Props) {
  const { author } = post;
  const classes = ["post", mine ? "mine" : "", joined ? "joined" : ""].filter(Boolean).join(" ");
  return (
    <article class={classes} aria-label={`${author.name}, ${clockOf(post.at)}`} id={`post-${post.seq}`}>
      {!mine && (
        <span class="gutter">
          {!joined && <Avatar id={author.id} name={author.name} bot={author.kind === "bot"} />}
        </span>
      )}
      <div class="post-body">
        {!joined && (
          <header>
            {!mine && <strong>{author.name}</strong>}
            {author.kind === "bot" && <span class="bot-mark">bot</span>}
            <time dateTime={post.at}>{clockOf(post.at)}</time>
          </header>
        )}
        {answered && (
          <a class="answered" href={`#post-${answered.seq}`} onClick={(event) => jump(event, answered.seq)}>
            Answer to {answered.author.name}: {shortText(answered.content)}
          </a>
        )}
        <Content playground={playground} post={post} />
        {post.reactions && post.reactions.length > 0 && <Reactions post={post} />}
      </div>
    </article>
  );
}

function Content({ playground, post }: { playground: Playground; post: WirePost }) {
  const { content } = post;
  switch (content.type) {
    case "message":
      return (
        <>
          {content.text && <Markdown class="bubble" html={content.html} />}
          <Files files={content.files} />
        </>
      );
    case "text":
      return (
        <>
          {content.html && <Markdown class="bubble" html={content.html} />}
          <ImageGrid images={content.images} />
          {content.document && <FileCard file={content.document} />}
        </>
      );
    case "attachment":
      return <Files files={[content.file]} />;
    case "widget":
      return <WidgetCard playground={playground} post={post} content={content} />;
    case "cursor-agent":
      return <AgentCard bcId={content.bcId} url={content.url} />;
    case "secret-request":
      return <SecretCard playground={playground} post={post} secret={content.secret} />;
    case "host-card":
      return <HostCardView playground={playground} post={post} content={content} />;
  }
}

function Files({ files }: { files: readonly Extract<WireContent, { type: "message" }>["files"][number][] }) {
  const images = files.filter((file) => isPicture(file.mediaType));
  const others = files.filter((file) => !isPicture(file.mediaType));
  return (
    <>
      <ImageGrid images={images} />
      {others.map((file) => (
        <FileCard key={file.url} file={file} />
      ))}
    </>
  );
}

function Reactions({ post }: { post: WirePost }) {
  const byEmoji = new Map<string, string[]>();
  for (const { emoji, byName } of post.reactions ?? []) byEmoji.set(emoji, [...(byEmoji.get(emoji) ?? []), byName]);
  return (
    <ul class="reactions" aria-label="Reactions">
      {[...byEmoji].map(([emoji, names]) => (
        <li key={emoji} title={names.join(", ")}>
          <span aria-hidden="true">{emoji}</span>
          <span class="visually-hidden">
            {emoji} by {names.join(", ")}
          </span>
          {names.length > 1 && names.length}
        </li>
      ))}
    </ul>
  );
}

function isPicture(mediaType: string): boolean {
  return /^image\/(png|jpeg|gif|webp|avif)$/.test(mediaType);
}

function shortText(content: WireContent): string {
  const text = content.type === "message" ? content.text : content.type === "widget" ? content.widget.prompt : "…";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text || "a file";
}

function jump(event: Event, seq: number): void {
  event.preventDefault();
  document.getElementById(`post-${seq}`)?.scrollIntoView({ block: "center" });
}
