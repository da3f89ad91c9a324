/** Bots named in plain text: "@" and a name, with the word boundaries of every script; never in code, links or addresses (SPEC I3). */
import { describe, expect, test } from "vitest";
import type { BotHandle } from "../../../src/engine/bot.ts";
import { namedInText, quoteRanges } from "../../../src/engine/handles.ts";
import { ada, bo, whoWakes } from "./addressing-parts.ts";

const named = (name: string): BotHandle => ({ botId: name, name, platformIds: [`U_${name}`] });

describe("a handle", () => {
  test.each([
    "@Ada",
    "@ada",
    "@ADA",
    "@Ada hello",
    "hello @Ada",
    "hello, @Ada!",
    "(@Ada)",
    "@Ada:",
    "@Ada, look",
    "@Ada.",
    "@Ada…",
    "@Ada?",
    "@Ada's turn",
    "*@Ada*",
    "\n@Ada",
    "—@Ada—",
    "@Ada @Bob",
    "＠Ada",
    "@Ａｄａ",
    "@A\u200bda",
    "你好@Ada 请看",
    "请@Ada看一下",
    "@Ada看",
    "@Adaさん",
    "お願い@Adaさん",
    "@Ada는",
    "안녕@Ada",
    "สวัสดี@Adaครับ",
    "@Ada/@Bo",
    "@Ada-san",
    "🙂@Ada🙂",
    "hey@ Ada @Ada",
  ])("in %j is heard", (text) => {
    expect(whoWakes(text)).toEqual(["ada"]);
  });

  test.each([
    "Ada",
    "Ada, look",
    "@Adam",
    "@Ada1",
    "@Ada_x",
    "@Adaé",
    "@Adaя",
    "@ Ada",
    "ada@ada.example",
    "bob@Ada",
    "x.@Ada",
    "_@Ada",
    "é@Ada",
    "@@Ada",
    "a/@Ada",
    "@ada.example",
    "@ada/core",
    "https://example.com/@Ada",
    "https://example.com/?q=@Ada",
    "www.example.com/@ada",
    "mailto:x?cc=@ada",
    "@",
    "@\u200b",
    "",
    "#Ada",
    "@Bob",
  ])("in %j is not there", (text) => {
    expect(whoWakes(text)).toEqual([]);
  });

  test("inside code or a quotation is not heard, behind it is", () => {
    expect(whoWakes("`@Ada` x", { event: { quoted: [{ start: 0, end: 6 }] } })).toEqual([]);
    expect(whoWakes("`@Ada` @Ada", { event: { quoted: [{ start: 0, end: 6 }] } })).toEqual(["ada"]);
  });

  test("inside another mention's own text is not heard", () => {
    expect(whoWakes("ask <@U_BOB|Ada> about it")).toEqual([]);
  });
});

describe("several names", () => {
  test.each<[string, string[]]>([
    ["@Bo Diddley", ["bo"]],
    ["@bodiddley", ["bo"]],
    ["@bo", ["bo"]],
    ["@Bo  \n Diddley look", ["bo"]],
    ["@Bo Diddleys", ["bo"]],
    ["@bodiddleys", []],
    ["@Bob", []],
    ["@Diddley", []],
    ["@Ada and @Bo", ["ada", "bo"]],
    ["@Bo and @Ada and @Bo", ["bo", "ada"]],
  ])("%j names %j", (text, woken) => {
    expect(whoWakes(text, { bots: [ada, bo] })).toEqual(woken);
  });

  const lovelace = named("Ada Lovelace");
  const byron = named("Ada Byron");
  test("the first word counts only when one bot has it", () => {
    expect(whoWakes("@Ada look", { bots: [lovelace, byron], receiver: lovelace })).toEqual([]);
    expect(whoWakes("@Ada look", { bots: [lovelace, bo], receiver: lovelace })).toEqual(["Ada Lovelace"]);
    expect(whoWakes("@Ada Byron look", { bots: [lovelace, byron], receiver: lovelace })).toEqual(["Ada Byron"]);
    expect(whoWakes("@adabyron look", { bots: [lovelace, byron], receiver: lovelace })).toEqual(["Ada Byron"]);
  });

  test("the longest name wins, and a full name is not taken away by a longer one", () => {
    const bots = [ada, lovelace];
    expect(whoWakes("@Ada Lovelace look", { bots })).toEqual(["Ada Lovelace"]);
    expect(whoWakes("@Ada look", { bots })).toEqual(["ada"]);
    expect(whoWakes("@Ada Lovelaces", { bots })).toEqual(["ada"]);
  });

  test.each([
    ["小助手", "@小助手 你好"],
    ["小助手", "请@小助手看"],
    ["Élodie", "@élodie salut"],
    ["Élodie", "@E\u0301lodie salut"],
    ["Ὀδυσσεύς", "@ὀδυσσεύς"],
    ["Straße", "@STRAßE"],
    ["İnci", "@İnci"],
    ["🤖 Robo", "@🤖 robo hi"],
    ["🤖 Robo", "@🤖robo"],
    ["C-3PO", "@c-3po!"],
    ["نور", "@نور مرحبا"],
    ["Mr. Bot", "@mr. bot hi"],
    ["  Spacy   Bot ", "@spacy bot"],
    ["R.O.B.", "@r.o.b. hi"],
  ])("the bot %j hears %j", (name, text) => {
    const bot = named(name);
    expect(whoWakes(text, { bots: [bot], receiver: bot })).toEqual([name]);
  });

  test("a bot whose name is blank is named by nobody", () => {
    const blank = named(" ");
    expect(whoWakes("@ hello @ x @x", { bots: [blank], receiver: blank })).toEqual([]);
  });

  test("30,000 signs are read to the end", () => {
    const wakes = (piece: string) => whoWakes(piece.repeat(30_000 / piece.length), { bots: [ada, bo] });
    expect(["@", "@a", "@Ada ", "@ada.", " @", "x@ada "].map(wakes)).toEqual([[], [], ["ada"], ["ada"], [], []]);
  });
});

describe("a quotation in a member's message", () => {
  const called = (text: string) => namedInText(text, quoteRanges(text), [ada, bo]).map(({ botId }) => botId);
  test.each([
    ["> @Ada said so", []],
    [">@Ada", []],
    ["  > @Ada\n> @Bo", []],
    [">> @Ada\n\n>>> @Bo", []],
    ["> @Ada said so\n@Bo what do you think?", ["bo"]],
    ["1 > 0, @Ada", ["ada"]],
    ["@Ada > @Bo", ["ada", "bo"]],
    ["    > @Ada", ["ada"]],
  ])("%j calls %j", (text, bots) => {
    expect(called(text)).toEqual(bots);
  });
});
