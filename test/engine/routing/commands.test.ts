/** Typed commands: exact short forms only, so that nobody stops a bot by talking of stopping (SPEC T5). */
import { describe, expect, test } from "vitest";
import { type Command, readCommand } from "../../../src/engine/routing/commands.ts";
import { ada, bo, written } from "./addressing-parts.ts";

const ADA = "<@U_ADA|Ada>";
const BO = "<@U_BO|Bo Diddley>";
const BOB = "<@U_BOB|Bob>";
const read = (source: string) => readCommand(written(source), [ada, bo]);

describe("for every bot of the conversation", () => {
  test.each<[string, Command]>([
    ["!stop", "stop"],
    ["!STOP", "stop"],
    ["!Stop", "stop"],
    [" !stop ", "stop"],
    ["!stop.", "stop"],
    ["!stop!", "stop"],
    ["!stop!!!", "stop"],
    ["!stop…", "stop"],
    ["!stop。", "stop"],
    ["！stop", "stop"],
    ["！ｓｔｏｐ！", "stop"],
    ["!stop\n", "stop"],
    ["\u200b!stop\u200b", "stop"],
    ["!\u200bstop", "stop"],
    ["\u00a0!stop\u00a0", "stop"],
    ["!status", "status"],
    ["!help", "help"],
    ["!Help!", "help"],
  ])("%j is %s", (text, command) => {
    expect(read(text)).toEqual({ command });
  });
});

describe("a broadcast", () => {
  test.each<[string, string | undefined]>([
    ["!broadcast Freeze on Friday!\nSay so.", "Freeze on Friday!\nSay so."],
    ["!Broadcast  hello", "hello"],
    ["！broadcast hello", "hello"],
    ["!broadcast", ""],
    ["!broadcasting live", undefined],
    ["please !broadcast this", undefined],
    ["broadcast this", undefined],
  ])("%j says %j to all", (text, said) => {
    expect(read(text)).toEqual(said === undefined ? undefined : { command: "broadcast", text: said });
  });

  test("may name the bot that hears it", () => {
    expect(read(`${ADA} !broadcast hello`)).toEqual({ command: "broadcast", text: "hello", botId: "ada" });
  });
});

describe("for one bot", () => {
  test.each<[string, Command, string]>([
    [`${ADA} stop`, "stop", "ada"],
    [`${ADA} !stop`, "stop", "ada"],
    [`${ADA} STOP!`, "stop", "ada"],
    [`${ADA}: stop`, "stop", "ada"],
    [`${ADA}, stop.`, "stop", "ada"],
    [`${ADA}stop`, "stop", "ada"],
    [`stop ${ADA}`, "stop", "ada"],
    [`!stop ${ADA}`, "stop", "ada"],
    [`${ADA}\nstop`, "stop", "ada"],
    [`${BO} stop`, "stop", "bo"],
    [`${ADA} !help`, "help", "ada"],
    [`${BO} !status`, "status", "bo"],
    ["@Ada stop", "stop", "ada"],
    ["@ada, !stop", "stop", "ada"],
    ["＠Ada stop", "stop", "ada"],
    ["@Ada: STOP.", "stop", "ada"],
    ["@bodiddley stop", "stop", "bo"],
    ["@Bo stop", "stop", "bo"],
    ["@Bo Diddley !help", "help", "bo"],
  ])("%j is %s of %s", (text, command, botId) => {
    expect(read(text)).toEqual({ command, botId });
  });
});

describe("everyday words are no command", () => {
  test.each([
    "stop",
    "Stop!",
    "STOP",
    "help",
    "status",
    "please stop",
    "stop the car",
    "stop it",
    "don't stop",
    "can you stop?",
    "!stop it",
    "!stop the build",
    "! stop it now",
    "!stopp",
    "!stopping",
    "!unstop",
    "!!stop",
    "/stop",
    "\\stop",
    "-stop",
    "!",
    "stop?",
    "!stop?",
    "!help me",
    "!status?",
    "!halt",
    "",
    " ",
    "\n",
    "halt",
    "Halt!",
    "Stopp",
    "Stopp den Bus",
    "hör auf",
    "stoppe das Auto bitte",
    "arrête",
    "arrête la voiture",
    "stop à la pub",
    "para",
    "¡para!",
    "para el coche",
    "alto",
    "ferma",
    "ferma la macchina",
    "стоп",
    "стоп, машина",
    "остановись",
    "止まれ",
    "停",
    "停下",
    "やめて",
    "멈춰",
    "قف",
    "רד",
    "!stop !stop",
    "!stop !help",
    "stop and !stop",
    "`!stop",
    "> !stop",
    "!stop https://example.com",
    `${ADA}`,
    `${ADA} help`,
    `${ADA} status`,
    `${ADA} help!`,
    `${ADA} stop it`,
    `${ADA} stop?`,
    `${ADA} please stop`,
    `${ADA} don't stop`,
    `${ADA} can you stop the build`,
    `${ADA} halt`,
    `${ADA} Stopp`,
    `${ADA} stop 5`,
    `please ${ADA} stop`,
    `the stop ${ADA} made`,
    "@Ada stop the car",
    "@Ada help",
    "@Adam stop",
    "ada stop",
    "Ada, stop",
    "@Ada",
    "@Bob stop",
    "mail@ada stop",
    "stop stop @Ada",
    `${BOB} stop`,
    `${BOB} !stop`,
    `!stop ${BOB}`,
    `${ADA} ${BO} stop`,
    `${ADA} ${BOB} stop`,
    `${ADA} ${ADA} stop`,
    "<@G_TEAM:U_ADA|team> stop",
    "!__proto__",
    "!constructor",
    `!stop${" ".repeat(3)}${"x".repeat(10)}`,
    `${"!".repeat(500)}stop`,
  ])("%j", (text) => {
    expect(read(text)).toBeUndefined();
  });

  test("however long they are", () => {
    for (const text of [
      "!stop".repeat(20_000),
      `!stop${"!".repeat(100_000)}x`,
      " ".repeat(100_000),
      `@Ada${",".repeat(100_000)}stop`,
    ])
      expect(read(text)).toBeUndefined();
  });
});
