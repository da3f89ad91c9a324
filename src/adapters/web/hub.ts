/**
 * What the parts of the playground share while it runs: its bots, its timeline and channel list, its people and its open pages.
 * Invariant: all bots of one process share one hub, and the hub holds nothing that a restart would lose except open streams.
 */

import type {
  AdapterAccount,
  AdapterContext,
  Clock,
  FileRef,
  Installation,
  KeyValueStore,
  Log,
} from "../../engine/index.ts";
import { createMarkdownRenderer, type RenderMarkdown } from "../shared/markdown-html.ts";
import { Channels, type Place } from "./channels.ts";
import { toWireRecord } from "./format.ts";
import { Live } from "./live.ts";
import { People } from "./people.ts";
import { Timeline, WORKSPACE_LOG } from "./timeline.ts";
import type { WireWorking } from "./wire.ts";

/** A bot that can be written to here. */
export interface RunningBot {
  readonly account: AdapterAccount;
  readonly context: AdapterContext;
  readonly installation: Installation;
}

/** Everything the playground's parts work with. */
export class Hub {
  readonly bots = new Map<string, RunningBot>();
  readonly kv: KeyValueStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: string;
  readonly people: People;
  readonly channels: Channels;
  readonly timeline: Timeline;
  readonly live: Live;
  readonly markdown: RenderMarkdown;
  /** When a person last did something here; health shows it. */
  lastEventAt: Date | undefined;

  constructor(context: AdapterContext) {
    this.kv = context.kv;
    this.clock = context.clock;
    this.log = context.log;
    this.publicUrl = context.publicUrl;
    this.people = new People(context.kv);
    this.channels = new Channels(context.kv);
    this.timeline = new Timeline(context.kv, (channelId) =>
      this.live.wake(channelId === WORKSPACE_LOG ? undefined : channelId),
    );
    this.markdown = createMarkdownRenderer();
    this.live = new Live(
      {
        after: (channelId, after) => this.timeline.after(channelId, after),
        pulse: () => this.timeline.pulse(),
        working: () => this.working(),
        toWire: (channelId, item) => toWireRecord(channelId, item, this.markdown),
      },
      context.clock,
    );
  }

  /** The bots of a place that run in this process. */
  botsOf(place: Pick<Place, "bots">): readonly RunningBot[] {
    return place.bots.flatMap((id) => this.bots.get(id) ?? []);
  }

  /** The bot behind an installation, if it runs here. */
  botOfInstallation(installationId: string): RunningBot | undefined {
    return [...this.bots.values()].find((bot) => bot.installation.id === installationId);
  }

  /** Says that a bot works in a channel, or no longer does; other processes learn it by the pulse. */
  async setWorking(channelId: string, bot: RunningBot, until: Date | null): Promise<void> {
    const key = `working/${channelId}/${bot.account.botId}`;
    if (until) {
      const value: WireWorking = {
        channelId,
        botId: bot.account.botId,
        botName: bot.account.name,
        until: until.toISOString(),
      };
      await this.kv.set(key, value);
    } else {
      await this.kv.delete(key);
    }
    await this.timeline.beat();
    this.live.wake();
  }

  /** Bots at work in any process; stale statuses are left out. */
  async working(): Promise<readonly WireWorking[]> {
    const rows = await this.kv.list({ prefix: "working/", limit: 200 });
    const now = this.clock.now();
    return rows.map((row) => row.value as WireWorking).filter((item) => Date.parse(item.until) > now);
  }

  /** Remembers that this file was shown or uploaded here, so that its bytes may be handed out. */
  async rememberFile(file: FileRef): Promise<void> {
    await this.kv.set(`file/${file.sha256}.${file.ext}`, file);
  }

  /** A file that was shown or uploaded here. `name` is "<sha256>.<ext>". */
  async knownFile(name: string): Promise<FileRef | null> {
    return ((await this.kv.get(`file/${name}`)) ?? null) as FileRef | null;
  }
}
