/** Text on its way to Slack: nothing a model writes becomes a live token; pieces fit. */

import { expect, test } from "vitest";
import { splitForSlack, toPlainText, toSlackMarkdown } from "../../src/adapters/slack/format.ts";
import { clip, estimateBlocks, MARKDOWN_CHARS, RENDERED_BLOCKS } from "../../src/adapters/slack/limits.ts";
import type { PersonRef } from "../../src/engine/index.ts";
import { mentionsInText } from "../emulators/slack/mention-tokens.ts";

const person = (name: string, platformId: string): PersonRef => ({
  id: `slack:T1:${platformId}`,
  platformId,
  name,
  kind: "member",
});
const alice = person("Alice", "U0ALICE");
const TOKENS = [
  "<!channel>",
  "<!here>",
  "<!everyone>",
  "<@U0BOB>",
  "<@W0BOB|bob>",
  "<!subteam^S1>",
  "<!subteam^S1|@team>",
  "<!group>",
];

test.each([
  ["plain text", (t: string) => `hello ${t} there`],
  ["inline code", (t: string) => `hello \`${t}\` there`],
  ["a double-ticked span", (t: string) => `hello \`\`a \` ${t}\`\` there`],
  ["a fence", (t: string) => `x\n\`\`\`\n${t}\n\`\`\`\ny`],
  ["an open fence", (t: string) => `x\n~~~sh\n${t}`],
  ["bold", (t: string) => `**${t}**`],
  ["a link's target", (t: string) => `[x](${t})`],
  ["a link's angled target", (t: string) => `[x](<${t}>)`],
  ["a quotation", (t: string) => `> ${t}`],
  ["a table", (t: string) => `| a |\n|---|\n| ${t} |`],
  ["a heading", (t: string) => `# ${t}`],
  ["an HTML comment", (t: string) => `<!-- ${t} -->`],
  ["doubled brackets", (t: string) => `<${t}>`],
  ["an unbalanced tick", (t: string) => `\` ${t}`],
])("no mention or mass ping is live in %s", (_where, wrap) => {
  for (const token of TOKENS) {
    const shown = toSlackMarkdown(wrap(token), [alice]);
    expect(mentionsInText(shown), shown).toEqual([]);
  }
});

test("escaped tokens of a model stay escaped", () => {
  for (const text of ["&lt;!channel&gt;", "&amp;lt;!here&amp;gt;"]) {
    expect(toSlackMarkdown(text)).toBe(text);
  }
});

test("a mass ping written as a word stays a word", () => {
  expect(toSlackMarkdown("@channel @here @everyone", [person("everyone", "U0X")])).toBe("@channel @here <@U0X>");
  expect(toSlackMarkdown("@channel @here @everyone")).toBe("@channel @here @everyone");
});

test("automatic links become ordinary ones, ampersands in addresses survive", () => {
  expect(toSlackMarkdown("see <https://a.example/?x=1&y=2>")).toBe(
    "see [https://a.example/?x=1&y=2](https://a.example/?x=1&y=2)",
  );
  expect(toSlackMarkdown("<https://a.example/b_(c)>")).toBe("[https://a.example/b_(c)](https://a.example/b_%28c%29)");
  expect(toSlackMarkdown("write to <ann@a.example>")).toBe("write to [ann@a.example](mailto:ann@a.example)");
  expect(toSlackMarkdown("[x](<https://a.example/b c>)")).toBe("[x](https://a.example/b%20c)");
});

test("quotations keep their sign and code keeps its brackets", () => {
  expect(toSlackMarkdown("> said\n\n1 > 0 and a<b")).toBe("> said\n\n1 > 0 and a&lt;b");
  expect(toSlackMarkdown("`List<String>`\n```\n#include <map>\n```")).toBe("`List<String>`\n```\n#include <map>\n```");
});

test.each([
  ["@Alice, look", "<@U0ALICE>, look"],
  ["(@Alice)", "(<@U0ALICE>)"],
  ["thanks @Alice.", "thanks <@U0ALICE>."],
  ["@Alice's idea", "<@U0ALICE>'s idea"],
  ["@Alicent", "@Alicent"],
  ["mail bob@Alice.example", "mail bob@Alice.example"],
  ["https://x.example/@Alice", "https://x.example/@Alice"],
  ["[@Alice](https://x.example)", "[@Alice](https://x.example)"],
  ["`@Alice`", "`@Alice`"],
  ["```\n@Alice\n```", "```\n@Alice\n```"],
  ["Alice", "Alice"],
  ["@Bob", "@Bob"],
  ["@@Alice", "@@Alice"],
])("the allowed person's name: %j", (text, shown) => {
  expect(toSlackMarkdown(text, [alice])).toBe(shown);
});

test("the longest name wins and odd names cannot break out", () => {
  const people = [alice, person("Alice Smith", "U0SMITH"), person("A.*(B", "U0ODD"), person("<!channel>", "U0EVIL")];
  expect(toSlackMarkdown("@Alice Smith and @Alice and @A.*(B", people)).toBe("<@U0SMITH> and <@U0ALICE> and <@U0ODD>");
  expect(mentionsInText(toSlackMarkdown("@<!channel> <!channel>", people)).filter((m) => m.kind !== "user")).toEqual(
    [],
  );
});

test("an id that is none never becomes a token", () => {
  expect(toSlackMarkdown("@Eve", [person("Eve", "U1>|<!channel")])).toBe("@Eve");
});

test("plain words are escaped in Slack's order and never cut inside an entity", () => {
  expect(toPlainText("a & b <!here> &lt;")).toBe("a &amp; b &lt;!here&gt; &amp;lt;");
  const long = toPlainText("<".repeat(5000));
  expect(long.length).toBeLessThanOrEqual(3900);
  expect(long.replaceAll("&lt;", "")).toMatch(/^…?$/);
});

test("labels are cut between visible characters", () => {
  expect(clip("abcdef", 6)).toBe("abcdef");
  expect(clip("abcdefg", 6)).toBe("abcde…");
  expect(clip("👩‍👩‍👧‍👦".repeat(10), 30)).toMatch(/^(👩‍👩‍👧‍👦){2}…$/u);
});

test.each([
  ["13,500 characters", "word ".repeat(2700)],
  ["characters that grow when escaped", "<".repeat(9000)],
  ["60 short headings", Array.from({ length: 60 }, (_, i) => `# Heading ${i}`).join("\n")],
  ["120 paragraphs", Array.from({ length: 120 }, (_, i) => `Paragraph ${i}`).join("\n\n")],
  ["one word of 30,000 letters", "x".repeat(30_000)],
  ["a long fence", `\`\`\`py\n${"print('<@U0BOB>')\n".repeat(1500)}\`\`\``],
])("%s are split into messages Slack accepts", (_what, text) => {
  const pieces = splitForSlack(text, [alice]);
  expect(pieces.length).toBeGreaterThan(1);
  for (const piece of pieces) {
    expect(toSlackMarkdown(piece, [alice]).length).toBeLessThanOrEqual(MARKDOWN_CHARS);
    expect(estimateBlocks(piece)).toBeLessThanOrEqual(RENDERED_BLOCKS);
    expect(mentionsInText(toSlackMarkdown(piece, [alice]))).toEqual([]);
  }
});

test("blocks are counted as Slack renders them, rather too many than too few", () => {
  expect(estimateBlocks("one\nstill one")).toBe(1);
  expect(estimateBlocks("# h\ntext\n\n- a\n- b\n\n| a |\n|---|\n\n---\n\n> q\n\n```\n# no heading\n```\nend")).toBe(8);
});
