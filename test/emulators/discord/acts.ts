/**
 * The acting part of a Discord's API: setting it up, and what people do in it. Only wiring; the work is in the files
 * named by the imports.
 */
import type { Fields } from "../loopback.ts";
import type { ControlOptions, Which } from "./controls.ts";
import { choose, closeModal, press, sendCommand, submit } from "./controls.ts";
import type { BotOptions, PersonOptions } from "./directory.ts";
import {
  addBot,
  addEmoji,
  addForeignBot,
  addGuild,
  addPerson,
  addRole,
  installBot,
  joinGuild,
  roleOf,
  setRolePermissions,
} from "./directory.ts";
import { tellGuildDelete, tellThread } from "./events.ts";
import type { Bot, Channel, Guild, Role, User } from "./model.ts";
import type { Located, SayOptions } from "./people.ts";
import {
  directOf,
  edit,
  erase,
  forward,
  located,
  mention,
  pin,
  redeliver,
  say,
  sayByVoice,
  startForumPost,
  startThread,
  unfurl,
} from "./people.ts";
import type { Permission } from "./permissions.ts";
import type { ChannelOptions } from "./places.ts";
import { addChannel, permit, removeChannel } from "./places.ts";
import type { Post } from "./posts.ts";
import { react, unreact } from "./reactions.ts";
import type { Telling } from "./sessions.ts";
import type { World } from "./world.ts";
import { userOf } from "./world.ts";

/** Builds the set-up part. `guild` is the one there is from the start. */
export function createDirectory(world: World, guild: Guild) {
  return {
    guild,
    addGuild: (name: string, options?: { tier?: number }): Guild => addGuild(world, name, options),
    /** An application with its bot, installed in the first guild unless told otherwise. */
    addBot: (options: BotOptions): Bot => addBot(world, options),
    addPerson: (name: string, options?: PersonOptions): User => addPerson(world, name, options),
    addForeignBot: (name: string, guilds?: readonly Guild[]): User => addForeignBot(world, name, guilds),
    /** Everybody in the guild sees it, unless `members` (people, bots, roles) are given. */
    addChannel: (name: string, options: ChannelOptions = {}): Channel =>
      addChannel(world, options.guild ?? guild, name, options),
    addRole: (
      name: string,
      members?: readonly (Bot | User)[],
      options: Parameters<typeof addRole>[4] & { guild?: Guild } = {},
    ): Role => addRole(world, options.guild ?? guild, name, members, options),
    addEmoji: (name: string, place: Guild = guild): Fields => addEmoji(world, place, name),
    /** Installs a bot in a further guild. */
    install: (bot: Bot, place: Guild, permissions?: readonly Permission[]): void =>
      installBot(world, bot, place, permissions),
    /** Takes a bot out of a guild. */
    uninstall: (bot: Bot, place: Guild): void => {
      tellGuildDelete(world, place, bot, false);
      place.members.delete(bot.userId);
    },
    join: (person: User, place: Guild, roles?: readonly Role[]): void => joinGuild(world, person, place, roles),
    leave: (person: User, place: Guild): void => void place.members.delete(person.id),
    /** The managed role that looks like the bot when people pick a mention. */
    roleOf: (bot: Bot, place: Guild = guild): Role => roleOf(bot, place),
    permit: (channel: Channel, who: Bot | User | Role | Guild, change: Parameters<typeof permit>[3]): void =>
      permit(world, channel, who, change),
    setRolePermissions: (role: Role, permissions: readonly Permission[]): void =>
      setRolePermissions(world, role, permissions),
    /** Silences a member for so long (0 = no more). */
    timeOut: (member: Bot | User, place: Guild, ms: number): void => {
      const found = place.members.get(userOf(member).id);
      if (found) found.timedOutUntil = Date.now() + ms;
    },
    removeChannel: (channel: Channel): void => removeChannel(world, channel),
    /** `{ archived, locked }` of a thread. */
    setThread: (thread: Channel, state: { archived?: boolean; locked?: boolean }): void => {
      if (thread.thread) Object.assign(thread.thread, state);
      tellThread(world, thread, "THREAD_UPDATE");
    },
    /** `<@id>`, `<@&id>` for `say`. */
    mention,
    dmChannel: (person: User, bot: Bot): Channel => directOf(world, person, bot),
  };
}

/** Builds what people do. */
export function createActs(world: World) {
  return {
    say: (person: User, channel: Channel, typed: string, options?: SayOptions): Post =>
      say(world, person, channel, typed, options),
    dm: (person: User, bot: Bot, typed: string, options?: SayOptions): Post =>
      say(world, person, directOf(world, person, bot), typed, options),
    reply: (person: User, to: Located, typed: string, options?: SayOptions): Post =>
      say(world, person, to.channel, typed, { ...options, replyTo: to }),
    sayByVoice: (person: User, channel: Channel, bytes: Buffer, seconds?: number): Post =>
      sayByVoice(world, person, channel, bytes, seconds),
    forward: (person: User, place: Located, to: Channel, options?: SayOptions): Post =>
      forward(world, person, place, to, options),
    edit: (place: Located, typed: string, how?: Telling): Post => edit(world, place, typed, how),
    erase: (place: Located): void => erase(world, place),
    unfurl: (place: Located, url?: string): void => unfurl(world, place, url),
    pin: (person: User, place: Located): void => pin(world, person, place),
    redeliver: (place: Located, how?: Telling): void => redeliver(world, place, how),
    react: (person: User, place: Located, emoji: string): void => react(world, person, located(place), emoji),
    unreact: (person: User, place: Located, emoji: string): void => unreact(world, person, located(place), emoji),
    startThread: (person: User, channel: Channel, name: string, options?: Parameters<typeof startThread>[4]): Channel =>
      startThread(world, person, channel, name, options),
    startForumPost: (person: User, forum: Channel, title: string, typed: string, options?: SayOptions) =>
      startForumPost(world, person, forum, title, typed, options),
    /** Presses a button; resolves when the application answered, or failed to in 3 seconds. */
    press: (person: User, place: Located | Post, which: Which, options?: ControlOptions) =>
      press(world, person, place, which, options),
    /** Chooses options of a select by label or value. */
    choose: (person: User, place: Located | Post, chosen: readonly string[], which?: Which, options?: ControlOptions) =>
      choose(world, person, place, chosen, which, options),
    /** Fills and submits the person's open modal, inputs by label or custom id. */
    submit: (person: User, values: Parameters<typeof submit>[2], options?: Parameters<typeof submit>[3]) =>
      submit(world, person, values, options),
    closeModal: (person: User): void => closeModal(world, person),
    /** A slash command; subcommands with a space: `group on`. */
    command: (person: User, channel: Channel, bot: Bot, name: string, options?: Parameters<typeof sendCommand>[5]) =>
      sendCommand(world, person, channel, bot, name, options),
  };
}
